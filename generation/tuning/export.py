"""Writes a trained adapter in the forms that the engines take, with what it was made from.

::

    FOLDER/adapter_config.json, adapter_model.safetensors   for vLLM, in the form of peft
    FOLDER/adapter.gguf                                     for llama.cpp
    FOLDER/manifest.json                                    the model, the data, the hashes
    FOLDER/README.md                                        the same for people, and the licence
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from string import Template

from generation.models.adapter_conversion import write_gguf_adapter
from generation.models.adapters import GGUF_ADAPTER, PEFT_ADAPTER, PEFT_CONFIG
from generation.models.files import make_readable, remove_path, sha256_of

_CARD = Path(__file__).with_name("card.txt")
# Of peft's name of the factor that is zero before training.
_SECOND_FACTOR = ".lora_B."


@dataclass(frozen=True, slots=True)
class AdapterFacts:
    """What an adapter was made from.

    ``base_sha256`` has the hash of each file with weights of the model, ``command`` makes the
    adapter again, and losses are those of a token. ``apart_from``, ``start`` and ``varied`` say in
    words what was left out, from which adapter training went on, and how prompts were spelled. What
    the adapter learned is multiplied by ``strength``.
    """

    name: str
    base_model: str
    base_sha256: Mapping[str, str]
    benchmark: str
    benchmark_sha256: str
    apart_from: str
    start: str
    varied: str
    licence: str
    examples: int
    databases: int
    held_out_examples: int
    held_out_databases: int
    tokens: int
    seconds: float
    loss_before: float | None
    loss_after: float | None
    rank: int
    strength: float
    machine: str
    revision: str
    command: str


def export_adapter(best: Path, model: Path, into: Path, facts: AdapterFacts) -> Path:
    """Writes the adapter in ``best``, made for the model in ``model``, and returns ``into``.

    Weights are float16. Replaces an earlier export. Raises ModelError.

    A strength below 1 lies between the untuned and the tuned model, which often is better than both
    elsewhere and forgets less (Wortsman et al. 2022, arXiv 2109.01903). It is multiplied into one
    of the two factors, so that every adapter has the same scale.
    """
    import torch
    from safetensors.torch import load_file, save_file

    fresh = into.with_name(f"{into.name}.new")
    remove_path(fresh)
    fresh.mkdir(parents=True)
    tensors = load_file(best / PEFT_ADAPTER)
    save_file(
        {
            name: (tensor * (facts.strength if _SECOND_FACTOR in name else 1)).to(torch.float16)
            for name, tensor in tensors.items()
        },
        fresh / PEFT_ADAPTER,
    )
    config = json.loads((best / PEFT_CONFIG).read_text("utf-8"))
    config["base_model_name_or_path"] = facts.base_model
    (fresh / PEFT_CONFIG).write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    write_gguf_adapter(fresh, model, fresh / GGUF_ADAPTER)
    hashes = {file.name: sha256_of(file) for file in sorted(fresh.iterdir())}
    manifest = {**asdict(facts), "sha256": hashes}
    (fresh / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")
    card = Template(_CARD.read_text("utf-8")).substitute(
        {
            key: f"{value:,.3f}" if isinstance(value, float) else value
            for key, value in asdict(facts).items()
        }
    )
    (fresh / "README.md").write_text(card, "utf-8")
    make_readable(fresh)
    remove_path(into)
    fresh.rename(into)
    return into

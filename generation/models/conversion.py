"""Converts a GGUF file to a folder for vLLM: bfloat16 safetensors, tokenizer, chat template.

vLLM's GGUF loader supports few devices, while a safetensors folder loads everywhere. The folder
takes about 2.6 times the space of a Q4_K_M file; the weights keep the file's values, rounded to
bfloat16, and not those of the unquantised original.

Does not download, verify, or write into the final folder: the caller passes an empty one. torch and
transformers are imported inside `convert_gguf`.
"""

from __future__ import annotations

import gc
import importlib.util
from pathlib import Path
from typing import Any

from generation.engines.choice import INSTALL_VLLM
from generation.models.files import make_readable
from nl2sql.errors import ModelCorrupt, ModelError

DTYPE = "bfloat16"
_LIBRARIES = ("torch", "transformers", "gguf", "accelerate")


def check_libraries() -> None:
    """Raise ModelError if libraries for converting are missing; called before a download."""
    missing = [library for library in _LIBRARIES if importlib.util.find_spec(library) is None]
    if missing:
        raise ModelError(
            f"vLLM needs converted weights, and {', '.join(missing)} are missing for that.",
            hint=f"{INSTALL_VLLM} Or set model.engine: openvino.",
        )


def convert_gguf(gguf: Path, into: Path) -> None:
    """Fill ``into`` from ``gguf``.

    Needs memory for the whole model in bfloat16 and for unpacking. Measured peaks of the process:
    3.2 GB for 0.5B parameters (1.3 GB of weights), 5.8 GB for 1.5B (3.6 GB). Raises ModelCorrupt if
    the file has no usable chat template, and ModelError for all errors of transformers.
    """
    try:
        _convert(gguf, into)
    except ModelError:
        raise
    except ImportError as error:
        raise ModelError(
            f"Converting {gguf.name} needs transformers, torch and gguf: {error}.",
            hint=INSTALL_VLLM,
        ) from error
    except Exception as error:  # transformers documents no exceptions, so any may come
        raise ModelError(
            f"{gguf.name} could not be converted: {type(error).__name__}: {error}.",
            hint="Update transformers, or name a folder with a converted model instead.",
        ) from error


def _convert(gguf: Path, into: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    source: dict[str, Any] = {"gguf_file": gguf.name, "local_files_only": True}
    tokenizer = AutoTokenizer.from_pretrained(str(gguf.parent), **source)
    set_end_token(tokenizer, gguf)
    check_chat_format(tokenizer, gguf.name)

    # Without this, transformers leaves blocks packed if it has a kernel for them.
    unpack = GgufConfig(dequantize=True)
    model: Any = AutoModelForCausalLM.from_pretrained(
        str(gguf.parent), dtype=torch.bfloat16, quantization_config=unpack, **source
    )
    dtypes = {str(parameter.dtype) for parameter in model.parameters()}
    if dtypes != {f"torch.{DTYPE}"}:
        raise ModelError(
            f"{gguf.name} was not unpacked: its tensors are {', '.join(sorted(dtypes))}.",
            hint="Update transformers.",
        )
    # The model is still marked as quantised, which would prevent saving it and mislead vLLM.
    model.hf_quantizer = None
    model.is_quantized = False
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.generation_config = build_generation_config(tokenizer)
    model.save_pretrained(str(into))

    tokenizer.model_max_length = model.config.max_position_embeddings
    tokenizer.save_pretrained(str(into))
    make_readable(into)
    del model
    gc.collect()


def set_end_token(tokenizer: Any, gguf: Path) -> None:
    """Set the end token that the file names; transformers 5.17 takes the family's default."""
    from gguf import GGUFReader

    field = GGUFReader(gguf).get_field("tokenizer.ggml.eos_token_id")
    if field is not None:
        tokenizer.eos_token = tokenizer.convert_ids_to_tokens(int(field.contents()))


def check_chat_format(tokenizer: Any, file_name: str) -> None:
    """Raise ModelCorrupt unless there is a chat template that ends turns with the end token."""
    if not tokenizer.chat_template or not tokenizer.eos_token:
        raise ModelCorrupt(
            f"{file_name} has no chat template or no end-of-turn token.",
            hint="Use the file of an instruct model.",
        )
    turns = [{"role": "user", "content": "?"}]
    text = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
    if tokenizer.eos_token not in text:
        raise ModelCorrupt(
            f"The chat template of {file_name} never ends a turn with {tokenizer.eos_token!r}.",
            hint="Use the file of an instruct model.",
        )


def build_generation_config(tokenizer: Any) -> Any:
    """A generation config with stop tokens, and on purpose without sampling values.

    vLLM takes defaults for sampling from this file. The request sets the temperature, and a
    repetition penalty, as the original models have it, would penalise SQL that names a column
    twice. The padding token (``<|endoftext|>``) also ends the output, as in the originals.
    """
    from transformers import GenerationConfig

    stops = [tokenizer.eos_token_id]
    if tokenizer.pad_token_id not in (None, tokenizer.eos_token_id):
        stops.append(tokenizer.pad_token_id)
    return GenerationConfig(
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=stops,
        pad_token_id=tokenizer.pad_token_id,
    )

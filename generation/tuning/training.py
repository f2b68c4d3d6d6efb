"""Trains a LoRA adapter on packed examples with torch and peft, on a CPU or a GPU.

Only the query's tokens are learned. After every ``checkpoint_s`` seconds the state is written, and
a run that was killed goes on from there with the same order of examples. The loss on examples of
databases that are not trained on is measured at even steps; training ends when it no longer falls,
and the adapter with the lowest is the result.

LoRA: Hu et al. 2021, arXiv 2106.09685. Knows nothing of SQL.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from generation.engines.chat_encoder import ChatEncoder
from generation.engines.choice import choose_cpu_dtype, read_cpu_flags
from generation.models.adapters import LINEAR_LAYERS, PEFT_ADAPTER, check_peft_adapter
from generation.models.files import remove_path
from generation.tuning.examples import TuningExample
from generation.tuning.packing import IGNORED, Encoded, Pack, pack_examples
from nl2sql.errors import ModelError, SettingsError
from nl2sql.prompts import ANSWER_END, ANSWER_START
from nl2sql.types import Prompt

INSTALL_TUNE = "pip install 'quorumsql[tune]'; in a checkout on a CPU: make install-vllm."
BEST = "best"
"""The folder of the best adapter in that of the run."""

ALPHA = 2
"""What an adapter adds is multiplied by this."""

_WARM_UP = 0.05
_LOWEST_RATE = 0.05
_MOST_GRADIENT = 1.0


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """How to train.

    ``batch`` is the number of packs of a step, ``epochs`` how often each example is seen. The
    learning rate rises, then falls to the end along a cosine. So many ``measurements`` are made on
    at most ``most_measured`` packs of held-out examples, which cost half of training on them;
    after ``patience`` of them without a better loss training ends.
    """

    rank: int = 8
    learning_rate: float = 4e-4
    epochs: float = 2.0
    batch: int = 1
    most_branches: int = 16
    most_tokens: int = 1600
    measurements: int = 6
    most_measured: int = 16
    patience: int = 3
    checkpoint_s: float = 120.0
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """The state after a step. ``held_out`` is the loss on held-out examples where measured.

    Losses are means over the tokens of queries; ``loss`` is None before the first step.
    """

    step: int
    steps: int
    loss: float | None
    seconds: float
    tokens: int
    held_out: float | None = None


@dataclass(frozen=True, slots=True)
class Trained:
    """A finished training: the folder of the best adapter, and the held-out loss before and after.

    The losses are None if no example was held out.
    """

    best: Path
    tokens: int
    seconds: float
    before: float | None
    after: float | None


def encode_examples(examples: Sequence[TuningExample], tokenizer: Any) -> list[Encoded]:
    """The ids of prompts and queries, as the engines encode them."""
    encoder = ChatEncoder(tokenizer)
    return [
        Encoded(
            tuple(encoder.encode(Prompt("generate", example.messages), ANSWER_START)),
            tuple(tokenizer.encode(f"{example.sql}\n{ANSWER_END}", add_special_tokens=False)),
        )
        for example in examples
    ]


def encode_packs(
    examples: Sequence[TuningExample], tokenizer: Any, options: TrainingOptions
) -> list[Pack]:
    """The packs of all examples, in a random order that follows from the seed."""
    packs = pack_examples(
        encode_examples(examples, tokenizer),
        most_tokens=options.most_tokens,
        most_branches=options.most_branches,
    )
    random.Random(options.seed).shuffle(packs)
    return packs


class Trainer:
    """Trains an adapter for the model in ``folder``; its state is kept in ``run``."""

    def __init__(
        self, folder: Path, run: Path, options: TrainingOptions, start: Path | None = None
    ) -> None:
        """Loads the model, and the adapter in the folder ``start`` to go on from.

        Raises ModelError if a library is missing or the model is unusable, SettingsError if the
        adapter does not fit.
        """
        try:
            import gguf  # noqa: F401 - without it the result could not be written
            import peft
            import torch
            import transformers
        except ImportError as error:
            raise ModelError(f"Tuning needs {error.name}.", hint=INSTALL_TUNE) from error
        self._torch = torch
        self._options = options
        self._run = run
        torch.manual_seed(options.seed)
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        on_gpu = self._device == "cuda"
        dtype = "bfloat16" if on_gpu else choose_cpu_dtype(read_cpu_flags())
        self._dtype = getattr(torch, dtype)
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(
            str(folder), local_files_only=True
        )
        try:
            model: Any = transformers.AutoModelForCausalLM.from_pretrained(
                str(folder), dtype=self._dtype, attn_implementation="sdpa", local_files_only=True
            )
        except (OSError, ValueError) as error:
            raise ModelError(
                f"The model in {folder} cannot be loaded: {error}",
                hint="Name a folder in the format of transformers, or a registered model.",
            ) from error
        config = peft.LoraConfig(
            r=options.rank,
            lora_alpha=ALPHA * options.rank,
            # All, as Dettmers et al. 2023 (arXiv 2305.14314) recommend.
            target_modules=[name for names in LINEAR_LAYERS.values() for name in names],
            task_type="CAUSAL_LM",
            base_model_name_or_path="",
        )
        self._peft: Any = peft.get_peft_model(model.to(self._device), config)
        self._model: Any = model
        self._start = start
        if start is not None:
            self._load_adapter(start, folder)
        self._weights = [each for each in self._peft.parameters() if each.requires_grad]
        self._optimizer = torch.optim.AdamW(
            self._weights, lr=options.learning_rate, weight_decay=0.0, betas=(0.9, 0.98)
        )

    def train(
        self,
        packs: Sequence[Pack],
        held_out: Sequence[Pack],
        report: Callable[[Step], None] = lambda step: None,
    ) -> Trained:
        """Trains to the end, or goes on where an earlier call was killed.

        Raises SettingsError without packs.
        """
        if not packs:
            raise SettingsError(
                "There is no example to train on.",
                hint="Take more questions, or a smaller share of databases to hold out.",
            )
        options = self._options
        held_out = held_out[: options.most_measured]
        steps = max(1, math.ceil(len(packs) * options.epochs / options.batch))
        every = max(1, steps // options.measurements)
        state = self._resume() or _State()
        if held_out and state.before is None:
            state.before = self.measure_loss(held_out)
            report(Step(0, steps, None, 0.0, 0, state.before))
        order = _repeat(packs, options.seed, skip=state.step * options.batch)
        saved = time.monotonic()
        while state.step < steps and state.since_best < options.patience:
            start = time.monotonic()
            self._set_rate(state.step, steps)
            loss = self._learn([next(order) for _ in range(options.batch)], state)
            state.step += 1
            measured = None
            if held_out and (state.step % every == 0 or state.step == steps):
                measured = self.measure_loss(held_out)
            is_last = state.step == steps
            if state.take(measured) or (is_last and not held_out):
                self._save_adapter(self._run / BEST)
            state.seconds += time.monotonic() - start
            if is_last or measured is not None or time.monotonic() - saved > options.checkpoint_s:
                self._save(state)
                saved = time.monotonic()
            report(Step(state.step, steps, loss, state.seconds, state.tokens, measured))
        if self._start is not None and state.got_worse:
            state.best = state.before
            self._take_weights(self._start)
            self._save_adapter(self._run / BEST)
        return Trained(self._run / BEST, state.tokens, state.seconds, state.before, state.best)

    def measure_loss(self, packs: Sequence[Pack]) -> float:
        """The mean loss of a token of the queries."""
        total = tokens = 0.0
        with self._torch.no_grad():
            for pack in packs:
                total += float(self._compute_loss(pack)) * pack.learned
                tokens += pack.learned
        return total / max(tokens, 1.0)

    def _load_adapter(self, start: Path, folder: Path) -> None:
        check_peft_adapter(start, folder, named="--start")
        read = self._take_weights(start)
        missing = [name for name in read.missing_keys if "lora_" in name]
        if missing or read.unexpected_keys:
            raise SettingsError(
                f"--start: {start} adapts other layers than all linear ones.",
                hint="Name an adapter that `quorumsql tune` made.",
            )

    def _take_weights(self, adapter: Path) -> Any:
        import peft
        from safetensors.torch import load_file

        return peft.set_peft_model_state_dict(self._peft, load_file(adapter / PEFT_ADAPTER))

    def _learn(self, packs: Sequence[Pack], state: _State) -> float:
        self._optimizer.zero_grad()
        learned = sum(pack.learned for pack in packs)
        total = 0.0
        for pack in packs:
            loss = self._compute_loss(pack) * (pack.learned / learned)
            loss.backward()
            total += float(loss.detach())
            state.tokens += len(pack.ids)
        self._torch.nn.utils.clip_grad_norm_(self._weights, _MOST_GRADIENT)
        self._optimizer.step()
        return total

    def _compute_loss(self, pack: Pack) -> Any:
        torch = self._torch
        branches = torch.tensor(pack.branches, device=self._device)
        at = torch.arange(len(pack.ids), device=self._device)
        seen = (at[None, :] <= at[:, None]) & (
            (branches[None, :] == 0) | (branches[None, :] == branches[:, None])
        )
        mask = torch.zeros(seen.shape, dtype=self._dtype, device=self._device)
        mask.masked_fill_(~seen, torch.finfo(self._dtype).min)
        labels = torch.tensor(pack.labels, device=self._device)
        with torch.autocast(self._device, self._dtype, enabled=self._dtype != torch.float32):
            states = self._model.model(
                input_ids=torch.tensor([pack.ids], device=self._device),
                position_ids=torch.tensor([pack.positions], device=self._device),
                attention_mask=mask[None, None],
                use_cache=False,
            ).last_hidden_state[0]
            # The vocabulary is large: logits are computed only where something is learned.
            logits = self._model.lm_head(states[labels != IGNORED])
        return torch.nn.functional.cross_entropy(logits.float(), labels[labels != IGNORED])

    def _set_rate(self, step: int, steps: int) -> None:
        rising = min(1.0, (step + 1) / max(1.0, _WARM_UP * steps))
        falling = 0.5 * (1 + math.cos(math.pi * step / steps))
        for group in self._optimizer.param_groups:
            group["lr"] = self._options.learning_rate * rising * max(_LOWEST_RATE, falling)

    def _save_adapter(self, folder: Path) -> None:
        fresh = folder.with_name(f"{folder.name}.new")
        remove_path(fresh)
        self._peft.save_pretrained(str(fresh))
        remove_path(folder)
        fresh.rename(folder)

    def _save(self, state: _State) -> None:
        folder = self._run / "checkpoint"
        fresh = folder.with_name("checkpoint.new")
        remove_path(fresh)
        fresh.mkdir(parents=True)
        self._torch.save(
            {
                "weights": [weight.detach().cpu() for weight in self._weights],
                "optimizer": self._optimizer.state_dict(),
            },
            fresh / "state.pt",
        )
        (fresh / "state.json").write_text(json.dumps(state.dump()), "utf-8")
        # A kill between these two leaves the new one, which _resume takes.
        remove_path(folder)
        fresh.rename(folder)

    def _resume(self) -> _State | None:
        for name in ("checkpoint", "checkpoint.new"):
            folder = self._run / name
            if (folder / "state.json").is_file():
                kept = self._torch.load(folder / "state.pt", weights_only=True)
                with self._torch.no_grad():
                    for weight, value in zip(self._weights, kept["weights"], strict=True):
                        weight.copy_(value)
                self._optimizer.load_state_dict(kept["optimizer"])
                return _State(**json.loads((folder / "state.json").read_text("utf-8")))
        return None


@dataclass(slots=True)
class _State:
    """What a checkpoint holds beside the weights."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    before: float | None = None
    best: float | None = None
    since_best: int = 0

    def take(self, measured: float | None) -> bool:
        """Compares a loss on held-out examples with the best one; true if it is better."""
        if measured is None:
            return False
        if self.best is None or measured < self.best:
            self.best, self.since_best = measured, 0
            return True
        self.since_best += 1
        return False

    @property
    def got_worse(self) -> bool:
        """Whether even the best loss is higher than that before the training."""
        return self.before is not None and self.best is not None and self.before < self.best

    def dump(self) -> dict[str, Any]:
        """For JSON."""
        return {name: getattr(self, name) for name in self.__slots__}


def _repeat(packs: Sequence[Pack], seed: int, skip: int) -> Iterator[Pack]:
    """The packs again and again, in another order each time, without the first ``skip``."""
    turn = skip // len(packs)
    rest = skip % len(packs)
    while True:
        shuffled = list(packs)
        random.Random(f"{seed} {turn}").shuffle(shuffled)
        yield from shuffled[rest:]
        turn, rest = turn + 1, 0

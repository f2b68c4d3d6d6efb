"""What the pipeline relies on in an engine, tried on a running one.

Every check is a request or two whose right result is known for any model, also for one with random
weights: no check reads what the texts say.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from random import Random

from nl2sql.protocols import Engine
from nl2sql.types import Completions, Message, Prompt, SamplingRequest

_TASK = "Count from 1 to 1000 in words."
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SAMPLE_WORDS = 1000


@dataclass(frozen=True, slots=True)
class EngineCheck:
    """One property, whether the engine has it, and what was seen."""

    name: str
    passed: bool
    seen: str


# Answers that no engine finishes within the time limits here.
_ENDLESS_TOKENS = 4000
_LONG_TOKENS = 128
_PREFIX_TOKENS = 1500
_PAUSE_S = 0.5
_PIECE = 3


async def check_behaviour(engine: Engine) -> AsyncIterator[EngineCheck]:
    """The checks, one after the other. An error of the engine fails the check that met it."""
    for name, check in _CHECKS.items():
        try:
            passed, seen = await check(engine)
        except Exception as error:  # whatever an engine raises is what the check reports
            passed, seen = False, f"{type(error).__name__}: {error}"
        yield EngineCheck(name, passed, seen)


async def _check_count(engine: Engine) -> tuple[bool, str]:
    found = await engine.sample(_build(k=8, max_tokens=16))
    return len(found.texts) == 8, f"{len(found.texts)} of 8 texts"


async def _check_seed(engine: Engine) -> tuple[bool, str]:
    first, again, other = [
        await engine.sample(_build(k=4, seed=seed, tag="seed")) for seed in (7, 7, 8)
    ]
    differs = "differ" if other.texts != first.texts else "are the same"
    return (
        first.texts == again.texts and other.texts != first.texts,
        f"{_count_equal(first, again)} of 4 texts repeat; those of another seed {differs}",
    )


async def _check_stop(engine: Engine) -> tuple[bool, str]:
    request = _build(k=1, tag="stop")
    text = (await engine.sample(request)).texts[0]
    # No prompt's stop text ends with a blank, at which OpenVINO stops a token early.
    pieces = (text[at : at + _PIECE] for at in range(len(text) // 2, len(text)))
    stop = next(piece for piece in pieces if piece == piece.strip())
    ended = (await engine.sample(replace(request, stop=(stop,)))).texts[0]
    return ended == text[: text.index(stop)], f"ended after {len(ended)} of {len(text)} characters"


async def _check_prefix(engine: Engine) -> tuple[bool, str]:
    words = round(_PREFIX_TOKENS / await measure_word(engine))
    # Words of this moment, which no earlier check has left in the cache.
    prompt = write_task(write_words(words, f"prefix {time.time_ns()}"))
    request = replace(_build(k=1, max_tokens=1), prompt=prompt)
    first, second = [(await _time(engine.sample(request)))[1] for _ in range(2)]
    return second < first, f"{first * 1000:.0f} ms, then {second * 1000:.0f} ms for the same prompt"


async def _check_deadline(engine: Engine) -> tuple[bool, str]:
    request = _build(k=16, max_tokens=_LONG_TOKENS, tag="deadline")
    free, seconds = await _time(engine.sample(request))
    # Enough for the same answers again, which end earlier or hold the stop text nowhere.
    limit_s = 1.5 * seconds + 0.2
    stop, expected = _find_stop(free.texts)
    limited = replace(request, max_tokens=_ENDLESS_TOKENS, stop=(stop,), time_limit_s=limit_s)
    found, seconds = await _time(engine.sample(limited))
    return (
        0 < len(found.texts) < 16 and seconds < 2 * limit_s,
        f"{len(found.texts)} of 16 texts after {seconds:.1f} s, the limit was {limit_s:.1f} s; "
        f"{expected} end early",
    )


async def _check_cancel(engine: Engine) -> tuple[bool, str]:
    short = _build(k=1, max_tokens=8, tag="cancel")
    await engine.sample(short)
    _, usual = await _time(engine.sample(short))
    endless = [
        asyncio.create_task(
            engine.sample(_build(k=16, max_tokens=_ENDLESS_TOKENS, tag=f"endless {number}"))
        )
        for number in range(8)
    ]
    await asyncio.sleep(_PAUSE_S)
    for task in endless:
        task.cancel()
    ended = await asyncio.gather(*endless, return_exceptions=True)
    await asyncio.sleep(_PAUSE_S)
    _, after = await _time(engine.sample(short))
    return (
        all(isinstance(each, asyncio.CancelledError) for each in ended) and after < 2 * usual + 0.1,
        f"128 answers cancelled; a short one takes {after * 1000:.0f} ms after that, "
        f"{usual * 1000:.0f} ms before",
    )


_CHECKS: dict[str, Callable[[Engine], Awaitable[tuple[bool, str]]]] = {
    "K texts": _check_count,
    "the seed repeats": _check_seed,
    "stop texts": _check_stop,
    "the prefix cache": _check_prefix,
    "the time limit": _check_deadline,
    "cancelling": _check_cancel,
}


def _build(*, k: int, seed: int = 7, max_tokens: int = 48, tag: str = "count") -> SamplingRequest:
    return SamplingRequest(write_task(tag), k, seed=seed, temperature=1.0, max_tokens=max_tokens)


def _find_stop(texts: tuple[str, ...]) -> tuple[str, int]:
    """A piece of text that most of the texts lack, and how many hold it."""
    pieces = {text[at : at + _PIECE] for text in texts for at in range(len(text) - _PIECE)}
    counted = {piece: sum(piece in text for text in texts) for piece in pieces}
    return min(counted.items(), key=lambda item: abs(item[1] - len(texts) // 4))


def _count_equal(first: Completions, second: Completions) -> int:
    return sum(a == b for a, b in zip(first.texts, second.texts, strict=False))


async def _time(work: Awaitable[Completions]) -> tuple[Completions, float]:
    """The completions, and the seconds that they took."""
    start = time.perf_counter()
    return await work, time.perf_counter() - start


def write_task(beginning: str) -> Prompt:
    """A short task with a long answer after ``beginning``."""
    return Prompt("check", (Message("user", f"{beginning}\n{_TASK}"),))


def write_words(count: int, tag: str) -> str:
    """``count`` random words that depend on ``tag`` alone, so that no cache knows them by chance.

    >>> write_words(2, "a") == write_words(2, "a") != write_words(2, "b")
    True
    """
    draw = Random(tag)
    return " ".join("".join(draw.choices(_LETTERS, k=draw.randint(3, 9))) for _ in range(count))


async def measure_word(engine: Engine) -> float:
    """Tokens of a word of ``write_words``, on average. Raises EngineUnavailable."""
    (tokens,) = await engine.count_tokens((write_words(_SAMPLE_WORDS, "sample"),))
    return tokens / _SAMPLE_WORDS

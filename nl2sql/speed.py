"""The speed of a language model's engine, and the default sampling time limit derived from it.

Pure arithmetic: ``generation/engines/speed.py`` measures the speed.
"""

from __future__ import annotations

from dataclasses import dataclass

# Answers that are drawn at the same time from one prompt when the speed is measured.
MEASURED_K = 4
# A long question; the default time-out is a multiple of its time.
_LONG_PROMPT_TOKENS = 2000
_LONG_ANSWER_TOKENS = 100
_TIMES = 2
_SHORTEST_S = 20.0
_LONGEST_S = 120.0
_UNKNOWN_S = 60.0


@dataclass(frozen=True, slots=True)
class EngineSpeed:
    """Tokens a second: of an uncached prompt, and of ``MEASURED_K`` answers together."""

    prompt_tokens_per_s: float
    answer_tokens_per_s: float

    def estimate_seconds(self, prompt_tokens: int, answer_tokens: int, k: int = 1) -> float:
        """Seconds for ``k`` answers of ``answer_tokens`` each on an otherwise idle engine.

        ``prompt_tokens`` counts uncached tokens. The rate of ``MEASURED_K`` answers is used for any
        ``k``: fewer answers take up to ``MEASURED_K`` times longer, more take less.

        >>> EngineSpeed(100.0, 40.0).estimate_seconds(1000, 50, k=4)
        15.0
        """
        return (
            prompt_tokens / self.prompt_tokens_per_s + k * answer_tokens / self.answer_tokens_per_s
        )


def choose_sampling_timeout_s(speed: EngineSpeed | None) -> float:
    """Seconds after which sampling ends, if ``limits.sampling_timeout_ms`` is unset.

    Twice what a long question takes (2,000 tokens of prompt, four answers of 100), from 20 to 120
    seconds; 60 where the speed is unknown.

    >>> choose_sampling_timeout_s(EngineSpeed(100.0, 40.0)), choose_sampling_timeout_s(None)
    (60.0, 60.0)
    """
    if speed is None:
        return _UNKNOWN_S
    long = speed.estimate_seconds(_LONG_PROMPT_TOKENS, _LONG_ANSWER_TOKENS, MEASURED_K)
    return min(max(_TIMES * long, _SHORTEST_S), _LONGEST_S)


@dataclass(frozen=True, slots=True)
class Pace:
    """The model's speed (None: unknown) and the sampling time limit in seconds (None: none).

    ``model`` is its name, and ``choice`` says how it suits this machine, if that was measured.
    """

    speed: EngineSpeed | None = None
    sampling_timeout_s: float | None = None
    model: str = ""
    choice: str = ""


UNKNOWN_PACE = Pace()

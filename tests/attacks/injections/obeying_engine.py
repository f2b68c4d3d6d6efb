"""A language model that does what an attacker tells it, whatever it is asked for."""

from __future__ import annotations

from nl2sql.types import Completions, SamplingRequest
from tests.attacks.injections.injection import Injection
from tests.fakes import count_fake_tokens


class ObeyingEngine:
    """Writes the query of the injection at hand; ``requests`` is what it was asked for it."""

    def __init__(self) -> None:
        self.requests: list[SamplingRequest] = []
        self._injection: Injection | None = None

    def obey(self, injection: Injection) -> None:
        """From now on to this one; forgets what it was asked before."""
        self._injection = injection
        self.requests = []

    async def sample(self, request: SamplingRequest) -> Completions:
        """``request.k`` times the same query, for a draft and a follow-up too."""
        assert self._injection is not None
        self.requests.append(request)
        text = self._injection.sql
        if request.prompt.purpose == "answer" and self._injection.said:
            text = self._injection.said
        elif request.prompt.purpose != "repair":
            text = self._injection.first or text
        return Completions((text,) * request.k, prompt_tokens=100, completion_tokens=10)

    async def speed(self) -> None:
        """Unknown."""

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """As every fake model counts."""
        return count_fake_tokens(texts)

"""The last check before a prompt is sent: that it holds no more than ``model.send`` allows.

Prompts are built from what may be sent, see ``nl2sql.prompts.contents``. This check is for the
builder that forgets it, and for one that does not say what its prompt holds.
"""

from __future__ import annotations

from generation.engines import OpenEngine
from generation.engines.server import estimate_tokens
from nl2sql.errors import PromptWithheld
from nl2sql.prompts.contents import may_send
from nl2sql.types import Completions, Contents, SamplingRequest


class CheckedEngine:
    """Forwards to ``engine`` the prompts that hold at most ``allowed``, and refuses all others."""

    def __init__(self, engine: OpenEngine, allowed: Contents) -> None:
        self._engine = engine
        self._allowed = allowed

    async def sample(self, request: SamplingRequest) -> Completions:
        """See ``Engine.sample``. Raises PromptWithheld for a prompt that may not be sent."""
        prompt = request.prompt
        if not may_send(prompt.contains, self._allowed):
            raise PromptWithheld(
                f"The prompt {prompt.purpose!r} may hold {prompt.contains}, and model.send is "
                f"{self._allowed}, so it was not sent.",
                hint="This is a defect of QuorumSQL: please report it.",
            )
        return await self._engine.sample(request)

    async def count_tokens(self, texts: tuple[str, ...]) -> tuple[int, ...]:
        """See ``Engine.count_tokens``; texts are not labelled, so the strictest setting sends none.

        Then it is an upper bound. Rows are in no text that is counted.
        """
        if self._allowed == "schema":
            return tuple(map(estimate_tokens, texts))
        return await self._engine.count_tokens(texts)

    async def requests_in_flight(self) -> int:
        """See ``OpenEngine.requests_in_flight``."""
        return await self._engine.requests_in_flight()

    async def probe(self) -> tuple[tuple[str, str], ...]:
        """See ``Probe.probe``."""
        return await self._engine.probe()

    async def check_health(self) -> None:
        """See ``OpenEngine.check_health``."""
        await self._engine.check_health()

    async def close(self) -> None:
        """See ``OpenEngine.close``."""
        await self._engine.close()

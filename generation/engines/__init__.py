"""Where completions come from: a module an engine, each the only one that knows its library.

``vllm_engine`` runs the model in this process, ``openai_engine`` asks any server that speaks
OpenAI's chat completions, ``anthropic_engine`` one that speaks Anthropic's messages. The libraries
are imported when an engine is made.
"""

from __future__ import annotations

from typing import Protocol

from nl2sql.protocols import Engine, Probe


class OpenEngine(Engine, Probe, Protocol):
    """An engine that was opened, until it is closed."""

    async def requests_in_flight(self) -> int:
        """Requests that are not finished; a cancelled one does not count."""
        ...

    def check_health(self) -> None:
        """Raise EngineUnavailable when only a restart of the engine can help."""
        ...

    async def close(self) -> None:
        """Free what the engine holds."""
        ...

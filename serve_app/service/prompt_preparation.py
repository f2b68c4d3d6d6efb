"""Makes the engine process the common beginnings of prompts before a question needs them.

Prompts of questions on one module begin with the same tables, and the engine caches what it has
processed. After a start the modules of the default database are processed, and those of any other
after its first question and after its index was replaced: one by one, while no question is being
answered. A new question interrupts this; it starts again when the question is answered.
"""

from __future__ import annotations

import asyncio
import logging
from contextvars import Context

from nl2sql.concurrency import running
from nl2sql.errors import QuorumError
from nl2sql.fair_turns import FairTurns
from nl2sql.protocols import Generator, Retriever
from nl2sql.types import Principal, SchemaContext

# The limit for one principal and database. At 12 KB a token (Qwen2.5, 0.5B) that is 100 MB
# of the engine's memory for prompts, and at 100 tokens a second 80 s of an idle machine's time.
_MOST_TOKENS = 8000
# A question often follows directly after the start or the previous answer.
_QUIET_S = 1.0
_LOG = logging.getLogger("quorumsql")
# Database and roles.
_Key = tuple[str, tuple[str, ...]]


class PromptPreparation:
    """Prepares prompts in the background, once for each index version and set of roles."""

    def __init__(
        self, retriever: Retriever, generator: Generator, *, quiet_s: float = _QUIET_S
    ) -> None:
        """Preparation begins when no request was being answered for ``quiet_s``."""
        self._retriever = retriever
        self._generator = generator
        self._quiet_s = quiet_s
        self._prepared: dict[_Key, str] = {}
        self._preparing: dict[_Key, str] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._turn = asyncio.Lock()
        self.current = ""
        """The database whose prompts are being prepared; empty while there is none."""

    def start(self, database: str, principal: Principal, version: str, turns: FairTurns) -> None:
        """Starts preparation if this ``version`` of the index is new; returns at once.

        An empty version means the current one.
        """
        key = (database, principal.roles)
        known = self._preparing.get(key, self._prepared.get(key))
        if known is not None and (not version or known in ("", version)):
            return
        self._preparing[key] = version
        task = asyncio.get_running_loop().create_task(
            self._run(database, principal, version, turns),
            # It is no part of the request that starts it, nor of that request's trace.
            context=Context(),
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(
        self, database: str, principal: Principal, version: str, turns: FairTurns
    ) -> None:
        key = (database, principal.roles)
        try:
            async with self._turn:
                tokens = await self.prepare(database, principal, turns)
        except QuorumError as error:
            # The next question fails with the same error and reports it, or prepares again.
            _LOG.info("The prompts of %s are not prepared: %s", database, error)
        else:
            _LOG.info("The prompts of %s are prepared: %d tokens", database, tokens)
        finally:
            if self._preparing.get(key) == version:
                del self._preparing[key]

    async def prepare(self, database: str, principal: Principal, turns: FairTurns) -> int:
        """Prepares the prompts and returns how many tokens the engine processed.

        Raises the errors of retrieval and the engine.
        """
        tokens, version = 0, None
        await self._wait_for_quiet(turns)
        self.current = database
        try:
            for context in await self._retriever.list_beginnings(database, principal):
                version = context.version
                tokens += await self._read(context, turns)
                if tokens >= _MOST_TOKENS:
                    break
        finally:
            self.current = ""
        if version is not None:
            self._prepared[database, principal.roles] = version
        return tokens

    async def _read(self, context: SchemaContext, turns: FairTurns) -> int:
        while True:
            async with (
                running(turns.wait_until_busy()) as question,
                running(self._generator.prepare(context)) as reading,
            ):
                await asyncio.wait((question, reading), return_when=asyncio.FIRST_COMPLETED)
                if reading.done():
                    return reading.result()
            await self._wait_for_quiet(turns)

    async def _wait_for_quiet(self, turns: FairTurns) -> None:
        while True:
            await turns.wait_until_idle()
            try:
                async with asyncio.timeout(self._quiet_s):
                    await turns.wait_until_busy()
            except TimeoutError:
                return

"""The service behind HTTP: checks a request against the limits and passes it to the pipeline.

Knows nothing of ray or FastAPI, so that tests and the command line use it directly.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Hashable, Mapping
from dataclasses import replace
from typing import Any

from nl2sql.answers import Answer
from nl2sql.concurrency import SingleFlight
from nl2sql.deadline import Deadline, ending_in
from nl2sql.errors import DeadlineExceeded, InvalidRequest, QuorumError
from nl2sql.progress import enter_stage, observed_by
from nl2sql.protocols import Answerer, Observer, Probe
from nl2sql.types import Principal, Question, TrialFix, Turn
from quorumsql.contract import QueryRequest
from retrieval.schema_directory import SchemaDirectory
from serve_app.service.account import Account
from serve_app.service.accounting import Accounting
from serve_app.service.admission import AdmissionController
from serve_app.service.prompt_preparation import PromptPreparation
from serve_app.service.recorder import QuestionRecorder
from serve_app.service.request_checks import (
    MOST_QUESTION_CHARS,
    check_filled,
    check_text,
    choose_max_rows,
    read_session,
)
from serve_app.service.rights import reads_policy
from serve_app.settings import Settings

_PROBE_TIMEOUT_S = 5.0
# The parts are probed at most once in this time, however often readiness is requested.
_PROBE_INTERVAL_S = 1.0


class QueryService:
    """Answers requests and reports its readiness."""

    def __init__(
        self,
        settings: Settings,
        pipeline: Answerer,
        probes: Mapping[str, Probe],
        preparation: PromptPreparation | None = None,
        access: SchemaDirectory | None = None,
        accounting: Accounting | None = None,
        recorder: QuestionRecorder | None = None,
    ) -> None:
        """``preparation`` prepares prompts.

        ``access`` knows which databases a principal may ask; ``accounting`` applies the limits
        of principals and keeps the audit log; ``recorder`` measures questions.
        """
        self.recorder = recorder or QuestionRecorder(settings)
        self._settings = settings
        self._timeout_s = settings.limits.request_timeout_ms / 1000
        self._pipeline = pipeline
        self._probes = dict(probes)
        self._probing: asyncio.Task[Mapping[str, str]] | None = None
        self._probed = 0.0
        self._preparation = preparation
        self._access = access
        self._accounting = accounting or Accounting()
        serve = settings.serve
        self.admission = AdmissionController(
            serve.max_ongoing_requests,
            serve.max_waiting_requests,
            self.recorder.set_load,
            max_slowdown=serve.max_slowdown,
        )
        self._flights = SingleFlight[Answer]()

    async def list_databases(self, principal: Principal) -> tuple[str, ...]:
        """The configured databases of which the principal may see anything. Raises Unavailable."""
        names = self._settings.database_names(principal)
        if self._access is None:
            return names
        return await self._access.list_admitted(names, principal)

    def check(self, request: QueryRequest, principal: Principal) -> None:
        """Raises what ``query`` raises before it does anything."""
        build_question(request, self._settings, principal)
        self.admission.check(principal.name, patience_s=self._timeout_s)

    async def query(
        self,
        request: QueryRequest,
        principal: Principal,
        observer: Observer | None = None,
        *,
        history: tuple[Turn, ...] = (),
        trial: TrialFix | None = None,
    ) -> Answer:
        """Answers a request; ``observer`` receives what happens meanwhile.

        ``history`` are the turns before it, where the caller tells them instead of a session. With
        a ``trial`` it is asked as in an exam, with the fix.

        Raises InvalidRequest, UnknownDatabase, LimitReached, Busy, Unavailable,
        DeadlineExceeded.
        """
        with self.recorder.record(request, principal) as finish:
            try:
                question = build_question(request, self._settings, principal)
            except InvalidRequest as error:
                await self._accounting.record_invalid(request, principal, error)
                raise
            question = replace(question, history=history, trial=trial)
            # Before the limits, so that a refusal costs nothing and counts nothing.
            with self.admission.admit(principal.name, patience_s=self._timeout_s):
                async with self._accounting.open(question, observer) as account:
                    answer = await self._answer(account)
                    account.finish(answer)
            finish.answer = answer
            if reads_policy(self._settings, principal):
                return replace(answer, trace=replace(answer.trace, shows_policy=True))
            return answer

    async def _answer(self, account: Account) -> Answer:
        question, deadline = account.question, Deadline.after(self._timeout_s)

        async def work() -> Answer:
            turn = self.admission.turns.hold(question.principal.name)
            async with ending_in(deadline.left_s), turn:
                return await self._pipeline.answer(question)

        # The questions of a conversation continue one another; others that are the same share an
        # answer. By ``repr``, to which 1, 1.0 and True are different attributes.
        key = object() if question.session else repr(question)
        try:
            with observed_by(account.observer):
                enter_stage("wait")
                async with asyncio.timeout(self._timeout_s):
                    answer = await self._share(key, work, deadline)
        except (TimeoutError, DeadlineExceeded) as error:
            raise DeadlineExceeded(
                f"No answer within {self._timeout_s:.0f} seconds.",
                hint="Ask for fewer candidates, or raise limits.request_timeout_ms.",
            ) from error
        context = answer.trace.context
        if self._preparation is not None and context is not None and context.version:
            self._preparation.start(
                question.database, question.principal, context.version, self.admission.turns
            )
        return answer

    async def _share(
        self, key: Hashable, work: Callable[[], Coroutine[Any, Any, Answer]], deadline: Deadline
    ) -> Answer:
        """The answer of the work that is under way for this key, or of new work."""
        while True:
            try:
                return await self._flights.run(key, work)
            except DeadlineExceeded:
                # Perhaps only the time of the request that began the work is over.
                if deadline.has_passed:
                    raise

    @property
    def preparing(self) -> str:
        """The database whose prompts the idle engine reads in advance; empty if none."""
        return "" if self._preparation is None else self._preparation.current

    async def readiness(self) -> Mapping[str, str]:
        """Part → its problem, empty if it has none; at most one second old."""
        now = time.monotonic()
        is_old = now - self._probed >= _PROBE_INTERVAL_S
        if self._probing is None or (self._probing.done() and is_old):
            self._probing = asyncio.create_task(self._probe_all())
            self._probed = now
        # A caller may be cancelled while others wait for the same task.
        return await asyncio.shield(self._probing)

    async def wait_until_ready(self) -> None:
        """Returns when questions can be answered; prompts are being prepared from then on."""
        while not self.list_ready(await self.readiness()):  # noqa: ASYNC110 - no part announces it
            await asyncio.sleep(_PROBE_INTERVAL_S)

    def list_ready(self, parts: Mapping[str, str]) -> tuple[str, ...]:
        """The databases about which questions can be answered, by what ``readiness`` found.

        Some parts belong to one database, all others are needed for every question.
        """
        names, source_of = self._settings.database_names(), self._settings.source_of
        own = {
            name: (f"database {source_of(name)}", f"policy {source_of(name)}", f"policy {name}")
            for name in names
        }
        single = {part for needed in own.values() for part in needed}
        if any(problem for part, problem in parts.items() if part not in single):
            return ()
        return tuple(name for name in names if not any(map(parts.get, own[name])))

    async def _probe_all(self) -> Mapping[str, str]:
        outcomes = await asyncio.gather(
            *(self._probe(name, probe) for name, probe in self._probes.items())
        )
        found = {name: problem for pairs in outcomes for name, problem in pairs}
        if self._preparation is not None:
            default = self._settings.default_database or next(iter(self._settings.databases))
            if default in self.list_ready(found):
                local = self._settings.identity.principal()
                self._preparation.start(default, local, "", self.admission.turns)
        return found

    async def _probe(self, name: str, probe: Probe) -> tuple[tuple[str, str], ...]:
        try:
            async with asyncio.timeout(_PROBE_TIMEOUT_S):
                return await probe.probe()
        except TimeoutError:
            return ((name, f"no answer within {_PROBE_TIMEOUT_S:.0f} s"),)
        except QuorumError as error:
            return ((name, str(error)),)


def build_question(request: QueryRequest, settings: Settings, principal: Principal) -> Question:
    """Checks the request and fills in defaults. Raises InvalidRequest."""
    return Question(
        text=check_filled("question", request.question, MOST_QUESTION_CHARS),
        evidence=check_text("evidence", request.evidence, MOST_QUESTION_CHARS),
        database=settings.database_name(request.database, principal),
        principal=principal,
        k=request.k or settings.sampling.k,
        seed=request.seed or 0,
        max_rows=choose_max_rows(request.max_rows, settings.limits),
        chosen_sql=check_text("chosen_sql", request.chosen_sql, MOST_QUESTION_CHARS),
        session=read_session(request.session),
        answer_text=request.answer_text or settings.answer.text,
    )

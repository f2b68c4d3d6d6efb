"""Completes a question from the earlier turns of its session and puts the answer into words.

Wraps the pipeline, which knows nothing of sessions. A question without a session is passed on
unchanged. If the turns cannot be read, the question is answered alone, and the answer says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from nl2sql.answers import Answer, Answered
from nl2sql.errors import Unavailable
from nl2sql.pipeline.conclusion import name_definitions
from nl2sql.pipeline.stages import StageClock
from nl2sql.protocols import Answerer, Conversations, Generator
from nl2sql.types import Question, Rewriting, Turn

_ALONE = "The session's earlier questions cannot be read now, so this one was answered alone."
_NOT_KEPT = (
    "The session cannot be written now, so later questions cannot refer to this one, and the "
    "history will not list it."
)


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Answers questions as the pipeline does, taking the session's earlier turns into account.

    Without ``sessions`` every question is answered alone.
    """

    pipeline: Answerer
    generator: Generator
    sessions: Conversations | None = None

    async def answer(self, question: Question) -> Answer:
        """The answer, with a text if the question asks for one. Raises what the pipeline does."""
        if not question.session and not question.history:
            return await self._put_in_words(await self.pipeline.answer(question))
        clock = StageClock()
        async with clock.time("rewrite"):
            turns, notes = await self._recall(question)
            # A chosen query needs no rewriting.
            rewriting = (
                Rewriting()
                if question.chosen_sql
                else await self.generator.rewrite(question, turns)
            )
        clock.add_tokens(rewriting.prompt_tokens, rewriting.completion_tokens)
        whole = replace(
            question,
            text=rewriting.text or question.text,
            chosen_sql=rewriting.chosen_sql or question.chosen_sql,
            continues=rewriting.method == "kept",
        )
        answer = await self._put_in_words(await self.pipeline.answer(whole))
        trace = replace(
            answer.trace,
            rewriting=rewriting,
            asked=question.text if rewriting.text else "",
            notes=(*answer.trace.notes, *notes),
            timings=(*clock.timings, *answer.trace.timings),
        )
        answer = replace(answer, trace=trace)
        return answer if notes or not question.session else await self._record(question, answer)

    async def _recall(self, question: Question) -> tuple[tuple[Turn, ...], tuple[str, ...]]:
        if question.history:
            return question.history, ()
        if self.sessions is None:
            return (), (_ALONE,)
        try:
            return await self.sessions.recall(question), ()
        except Unavailable:
            return (), (_ALONE,)

    async def _record(self, question: Question, answer: Answer) -> Answer:
        assert self.sessions is not None
        try:
            await self.sessions.record(question, answer)
        except Unavailable:
            trace = replace(answer.trace, notes=(*answer.trace.notes, _NOT_KEPT))
            return replace(answer, trace=trace)
        return answer

    async def _put_in_words(self, answer: Answer) -> Answer:
        question = answer.trace.question
        if not isinstance(answer, Answered) or question.answer_text not in ("rule", "model"):
            return answer
        clock = StageClock()
        async with clock.time("words"):
            words = await self.generator.write_answer(question, answer.sql, answer.result)
        clock.add_tokens(words.prompt_tokens, words.completion_tokens)
        trace = replace(answer.trace, timings=(*answer.trace.timings, *clock.timings))
        text = " ".join(filter(None, (words.text, words.text and name_definitions(answer))))
        return replace(answer, text=text, text_source=words.source, trace=trace)

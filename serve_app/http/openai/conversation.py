"""The messages of a chat as a question and the turns before it.

An answer of ours holds its SQL in a fence, so the earlier messages tell what was asked and answered
without a session. They come from the client, and so are trusted no more than a question: a query
among them is guarded like any other.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence

from nl2sql.errors import InvalidRequest
from nl2sql.types import Turn
from serve_app.http.openai.requests import ChatMessage
from serve_app.service.request_checks import SESSION

# The first line of what ``content.render_sql`` writes; the last one is the same backticks alone.
_OPENING = re.compile(r"(`{3,})sql")
_NUMBERED = re.compile(r"^\d+\. ", re.MULTILINE)
# Prompts that Open WebUI and its kin send by themselves, for titles, tags and suggestions.
_TASK = "### Task:"
_LONGEST_TITLE = 60
_MARKUP = re.compile(r"[][<>`!|\\@]|//|www\.")
_CHAT_ID = "x-openwebui-chat-id"


def read_question(messages: Sequence[ChatMessage]) -> str:
    """The last message, which must be the user's. Raises InvalidRequest."""
    last = messages[-1]
    if last.role != "user":
        raise InvalidRequest("The last message must be the user's question.", field="messages")
    return last.read_text()


def read_turns(messages: Sequence[ChatMessage], *, most: int, longest: int) -> tuple[Turn, ...]:
    """The last ``most`` questions before the last message that were answered or given back.

    Queries and questions of more than ``longest`` characters are left out.

    >>> said = (("user", "How many?"), ("assistant", "```sql\\nSELECT 3\\n```"), ("user", "And?"))
    >>> messages = [ChatMessage(role=role, content=text) for role, text in said]
    >>> [turn.sql for turn in read_turns(messages, most=5, longest=99)]
    ['SELECT 3']
    """
    turns: list[Turn] = []
    question = ""
    for message in messages[:-1]:
        if message.role == "user":
            question = message.read_text()
        elif message.role == "assistant" and question:
            turn = _read_turn(question, message.read_text())
            if turn is not None and _measure(turn) <= longest:
                turns.append(turn)
            question = ""
    return tuple(turns[-most:])


def find_session(headers: Mapping[str, str]) -> str | None:
    """The conversation that a request belongs to, by the chat's id.

    Not by ``user``, which names a person with many conversations.

    >>> find_session({"x-openwebui-chat-id": "4f-2"})
    '4f-2'
    >>> find_session({}) is None
    True
    """
    name = headers.get(_CHAT_ID)
    if not name:
        return None
    if SESSION.fullmatch(name):
        return name
    return hashlib.sha256(name.encode(errors="replace")).hexdigest()[:32]


def answer_task(prompt: str) -> str | None:
    """What a chat client's own prompt gets, without a database; None for a question.

    >>> answer_task("How many orders?") is None
    True
    >>> answer_task('### Task:\\nGenerate tags. JSON: { "tags": ["tag1"] }')
    '{"tags": []}'
    """
    if not prompt.lstrip().startswith(_TASK):
        return None
    for key in ("tags", "follow_ups", "queries"):
        if f'"{key}"' in prompt:
            return json.dumps({key: []})
    if '"title"' in prompt:
        return json.dumps({"title": _find_title(prompt)}, ensure_ascii=False)
    return json.dumps({"text": ""}) if '"text"' in prompt else _find_title(prompt)


def _find_title(prompt: str) -> str:
    """The first question of the chat that the prompt quotes."""
    found = re.search(r"^USER: (.+)$", prompt, re.MULTILINE)
    # Some clients show it as Markdown, others as it is: it is left without what could be markup.
    title = " ".join(_MARKUP.sub(" ", found[1]).split()) if found else ""
    title = title or "Question"
    return title if len(title) <= _LONGEST_TITLE else f"{title[: _LONGEST_TITLE - 1]}…"


def find_queries(answer: str) -> tuple[str, ...]:
    """The queries in the fences of an answer; one that does not end holds none.

    >>> find_queries("```sql\\nSELECT 1\\n```\\nor\\n````sql\\nSELECT '```'\\n````\\n```sql\\n")
    ('SELECT 1', "SELECT '```'")
    """
    queries: list[str] = []
    fence, inside = "", list[str]()
    for line in answer.split("\n"):
        if not fence:
            opening = _OPENING.fullmatch(line)
            fence = opening[1] if opening else ""
        elif line != fence or not inside:
            inside.append(line)
        else:
            queries.append("\n".join(inside))
            fence, inside = "", []
    return tuple(queries)


def _read_turn(question: str, answer: str) -> Turn | None:
    queries = find_queries(answer)
    if not queries:
        return None
    if len(_NUMBERED.findall(answer)) >= len(queries):
        return Turn(question, "clarify", interpretations=queries)
    return Turn(question, "answered", queries[-1])


def _measure(turn: Turn) -> int:
    return max(len(turn.question), len(turn.sql), *map(len, turn.interpretations), 0)

"""``/export``: writes the rows of an answer to a file, without asking the model again."""

from __future__ import annotations

from pathlib import Path

from nl2sql.errors import InvalidRequest
from quorumsql.contract import AnsweredResponse, QueryRequest
from quorumsql.wire import NoRows
from serve_app.cli.output import render_json
from serve_app.cli.service_or_process import Answering
from serve_app.http.formats import FORMATS

_JSON = "json"


def export_rows(answering: Answering, answer: AnsweredResponse, file: str) -> str:
    """Writes the rows in the format of the file's ending; returns what to tell.

    Except for JSON, which is the answer as it was shown, the query runs again, guarded as every
    query, so that the values have their types. Raises InvalidRequest for an ending that is unknown,
    a file that exists, or one that cannot be written.
    """
    path = Path(file).expanduser()
    ending = path.suffix.removeprefix(".").lower()
    format_ = next((each for each in FORMATS if ending in (each.suffix, each.name)), None)
    if not file or (format_ is None and ending != _JSON):
        endings = ", ".join(f".{each.suffix}" for each in FORMATS)
        raise InvalidRequest(f"Name a file that ends in .json, {endings}.", field="file")
    if path.exists():
        raise InvalidRequest(f"{path} exists already.", field="file", hint="Name another file.")
    if format_ is None:
        content = (render_json(answer) + "\n").encode()
    else:
        request = QueryRequest(
            question=answer.question,
            database=answer.database,
            picked=answer.sql or answer.reference,
            answer_text="off",
        )
        exported = answering.export(request, format_)
        if isinstance(exported, NoRows):
            return f"{exported.outcome}: {exported.reason}"
        content = exported.content
    try:
        with path.open("xb") as opened:
            opened.write(content)
    except OSError as error:
        raise InvalidRequest(f"Cannot write {path}: {error.strerror}.", field="file") from error
    return f"Written to {path}."

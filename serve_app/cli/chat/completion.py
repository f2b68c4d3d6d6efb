"""Completes commands, names of tables and columns, and files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document

from serve_app.cli.chat.slash_commands import COMMANDS
from serve_app.cli.schema_names import SchemaNames, begins

_WORD = re.compile(r"[^\s,;:()\"'?!=<>]+$")
_EXPORT = "/export "
# Of one letter, there are too many.
_SHORTEST = 2
_MOST_MENTIONED = 5


class ChatCompleter(Completer):
    """Offers what can stand at the cursor; ``names`` may be slow, so that it runs in a thread."""

    def __init__(self, names: SchemaNames) -> None:
        self._names = names
        self._paths = PathCompleter(expanduser=True)

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        """See Completer."""
        before = document.text_before_cursor
        if before.startswith(_EXPORT):
            path = Document(before.removeprefix(_EXPORT))
            yield from self._paths.get_completions(path, complete_event)
        elif before.startswith("/"):
            for name, (_, told) in COMMANDS.items():
                if name.startswith(before.lower()):
                    yield Completion(name, -len(before), display_meta=told)
        elif word := _WORD.search(before):
            for found, kind in find_names(self._names, word[0], document.text):
                yield Completion(found, -len(word[0]), display_meta=kind)


def find_names(names: SchemaNames, word: str, line: str) -> Iterator[tuple[str, str]]:
    """The names that ``word`` may become, and what each is.

    Behind the dot of a table these are its columns; else tables, and the columns of those tables
    that the line mentions.
    """
    table, dot, start = word.rpartition(".")
    if dot and (columns := names.list_columns(table)):
        for column in columns:
            if begins(column, start):
                yield f"{table}.{column}", f"column of {table}"
        return
    if len(word) < _SHORTEST:
        return
    offered = set()
    for mentioned in _find_mentioned(names, line, word):
        for column in names.list_columns(mentioned):
            if begins(column, word) and column not in offered:
                offered.add(column)
                yield column, f"column of {mentioned}"
    for name in names.find_tables(word):
        short = name.rpartition(".")[2]
        shown = short if short.lower().startswith(word.lower()) else name
        if shown not in offered:
            offered.add(shown)
            yield shown, f"table {name}"


def _find_mentioned(names: SchemaNames, line: str, word: str) -> list[str]:
    """The first words of the line that are names of tables."""
    words = dict.fromkeys(re.findall(r"[\w.]{2,}", line))
    found = []
    for each in words:
        if each != word and any(
            each.lower() in (name.lower(), name.lower().rpartition(".")[2])
            for name in names.find_tables(each)
        ):
            found.append(each)
    return found[:_MOST_MENTIONED]

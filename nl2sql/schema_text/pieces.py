"""A rendered schema in pieces, so that the tokens of all that can be left out are countable."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableText:
    """One table. ``columns`` pairs each column's name with its text.

    >>> TableText("s.t", "t(", (("a", "a"), ("b", "b")), ", ", ")").render()
    't(a, b)'
    """

    table: str
    head: str
    columns: tuple[tuple[str, str], ...]
    separator: str
    tail: str

    def render(self) -> str:
        """The whole table."""
        return self.head + self.separator.join(text for _, text in self.columns) + self.tail

    @property
    def frame(self) -> tuple[str, str]:
        """The text of the table without its columns."""
        return self.head, self.tail

    def column_pieces(self) -> dict[str, str]:
        """Column → its text with the separator, as it is counted."""
        return {name: text + self.separator for name, text in self.columns}


@dataclass(frozen=True, slots=True)
class SchemaText:
    """A schema: tables in name order, then ``closing``."""

    tables: tuple[TableText, ...]
    closing: str = ""

    def render(self) -> str:
        """The whole text, without a trailing line break."""
        tables = "".join(table.render() for table in self.tables)
        return f"{tables}{self.closing}".removesuffix("\n")

    def pieces(self) -> list[str]:
        """All pieces. The sum of their token counts is at least that of the whole text: pieces end
        at line breaks, commas and brackets, where tokenizers of code models split anyway."""
        found = [self.closing]
        for table in self.tables:
            found += (*table.frame, *table.column_pieces().values())
        return found

"""Functions of text under other names."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import read_number, replace_calls, write
from repair.normalize.facts import Facts

_LENGTH = dict.fromkeys(("postgres", "sqlite"), "LENGTH({x})")
_SQLITE_PART = "SUBSTR({x}, 1, INSTR({x} || {y}, {y}) - 1)"
# By the name and the number of arguments.
_TEMPLATES: dict[tuple[str, int], dict[str, str]] = {
    ("LEN", 1): _LENGTH,
    ("DATALENGTH", 1): {**_LENGTH, "duckdb": "LENGTH({x})"},
    ("CHAR_LENGTH", 1): {"sqlite": "LENGTH({x})"},
    ("CHARACTER_LENGTH", 1): {"sqlite": "LENGTH({x})"},
    ("UCASE", 1): {"postgres": "UPPER({x})", "sqlite": "UPPER({x})"},
    ("LCASE", 1): {"postgres": "LOWER({x})", "sqlite": "LOWER({x})"},
    ("INITCAP", 1): dict.fromkeys(
        ("sqlite", "duckdb"), "(UPPER(SUBSTR({x}, 1, 1)) || LOWER(SUBSTR({x}, 2)))"
    ),
    ("MID", 3): dict.fromkeys(("postgres", "sqlite", "duckdb"), "SUBSTR({x}, {y}, {z})"),
    ("LEFT", 2): {"sqlite": "SUBSTR({x}, 1, {y})"},
    ("RIGHT", 2): {"sqlite": "SUBSTR({x}, -{y})"},
    ("SUBSTRING_INDEX", 3): dict.fromkeys(("postgres", "duckdb"), "SPLIT_PART({x}, {y}, {z})"),
    ("CHAR", 1): {"postgres": "CHR({x})", "duckdb": "CHR({x})"},
    ("CHR", 1): {"sqlite": "CHAR({x})"},
    ("SPACE", 1): {"postgres": "REPEAT(' ', {x})", "duckdb": "REPEAT(' ', {x})"},
}
_FIRST_ONLY = ("SUBSTRING_INDEX", "SPLIT_PART")


def text_functions(tree: exp.Expr, facts: Facts) -> bool:
    """Translates ``LEN``, ``UCASE``, ``MID``, ``SUBSTRING_INDEX``; on SQLite ``LEFT``."""

    def build(call: exp.Anonymous) -> exp.Expr | None:
        args = call.expressions
        name = call.name.upper()
        parts = dict(zip("xyz", args, strict=False))
        if name in _FIRST_ONLY and len(args) == 3:
            number = read_number(args[2])
            if facts.target == "sqlite":
                return write(_SQLITE_PART, facts, **parts) if number == 1 else None
            if name == "SUBSTRING_INDEX" and number not in (1, -1):
                return None  # all parts up to the n-th, not the n-th part
        template = _TEMPLATES.get((name, len(args)), {}).get(facts.target)
        return write(template, facts, **parts) if template else None

    names = {name for name, _ in _TEMPLATES}
    return replace_calls(tree, [*names, *_FIRST_ONLY], build)

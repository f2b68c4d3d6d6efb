"""All mutants of one Python file.

Left out is what cannot matter to the guard's promise: docstrings and messages, annotations,
decorators, imports, assertions for the type checker, ``__slots__``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.mutation.expressions import list_faults, negate_test
from tests.mutation.mutant import Edit, Mutant

# The arguments that hold a text for people, by the function's name.
_MESSAGES = {"Violation": 2, "Unresolved": 2, "Diagnostic": 1, "Field": 1}
_MESSAGE_KEYWORDS = frozenset({"hint", "message", "description", "called", "where"})
# A part of a message, unless it is a list of words.
_PHRASE = re.compile(r"[a-z ;,:.]+")
# Longer parts of a text than this are only cut for messages.
_SHORT = 40


def list_python_mutants(path: str, source: bytes) -> tuple[Mutant, ...]:
    """The mutants of the file ``source``, in the order of its text."""
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    unique = {mutant.edits: mutant for mutant in finder.found}
    return tuple(sorted(unique.values(), key=lambda mutant: mutant.edits[0].start))


class _Finder:
    def __init__(self, path: str, source: bytes) -> None:
        self._path = path
        self._source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self.found: list[Mutant] = []

    def visit(self, node: ast.AST, parents: tuple[ast.AST, ...] = ()) -> None:
        """Notes the mutants of ``node`` and of what is below it."""
        if _is_left_out(node, parents):
            return
        if isinstance(node, ast.expr) and not (
            isinstance(node, ast.Tuple) and not _is_list_of_names(parents)
        ):
            self._add_all(node, list_faults(node))
        elif isinstance(node, ast.stmt):
            self._add_all(node, _list_statement_faults(node, parents))
        if isinstance(node, ast.If):
            self._add_all(node.test, negate_test(node.test))
        for child in _list_children(node):
            self.visit(child, (*parents, node))

    def _add_all(self, node: ast.stmt | ast.expr, faults: Iterator[tuple[str, str]]) -> None:
        start, end = self._locate(node)
        for kind, text in faults:
            self.found.append(Mutant(self._path, node.lineno, kind, (Edit(start, end, text),)))

    def _locate(self, node: ast.stmt | ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        # Columns are counted in bytes.
        start = self._starts[node.lineno - 1] + node.col_offset
        return start, self._starts[node.end_lineno - 1] + node.end_col_offset


def _list_statement_faults(
    node: ast.stmt, parents: tuple[ast.AST, ...]
) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Raise() | ast.AugAssign() | ast.Break() | ast.Continue():
            yield "statement dropped", "pass"
        case ast.Expr(value=ast.Call() | ast.Await()):
            yield "statement dropped", "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "statement dropped", "pass"
        case ast.Return(value=ast.expr() as value):
            if not (isinstance(value, ast.Constant) and value.value is None):
                yield "nothing returned", "return None"
            if any(isinstance(parent, ast.If | ast.For | ast.While) for parent in parents[-1:]):
                yield "statement dropped", "pass"
        case ast.Return():
            yield "statement dropped", "pass"


def _list_children(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below, without those that only people and type checkers read."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment", "pattern"):
            continue
        for at, child in enumerate(value if isinstance(value, list) else [value]):
            is_message = isinstance(node, ast.Call) and name == "args" and _is_message(node, at)
            if isinstance(child, ast.AST) and not is_message:
                yield child


def _is_message(call: ast.Call, at: int) -> bool:
    name = _name_function(call)
    return name.endswith("Error") or _MESSAGES.get(name) == at


def _is_left_out(node: ast.AST, parents: tuple[ast.AST, ...]) -> bool:
    parent = parents[-1] if parents else None
    match node:
        case ast.JoinedStr() | ast.Import() | ast.ImportFrom() | ast.Assert():
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.keyword(arg=name):
            return name in _MESSAGE_KEYWORDS
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id="__slots__")]):
            return True
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp() | ast.Subscript()):
            # The name of a type.
            return not any(isinstance(outer, ast.FunctionDef) for outer in parents) and (
                name[:1].isupper() and not name.isupper()
            )
        case ast.Call(func=ast.Name(id="TypeVar" | "cast" | "NewType")):
            return True
        case ast.Constant(value=int(size)) if isinstance(parent, ast.Slice):
            return size > _SHORT
        case ast.Constant(value=str(text)):
            if not text and isinstance(parent, ast.Call) and _name_function(parent) in _MESSAGES:
                # No fragment of the query is at fault.
                return True
            is_sentence = text[:1].isupper() and text.endswith((".", ": "))
            is_phrase = _PHRASE.fullmatch(text) and not isinstance(parent, ast.Attribute)
            return " " in text and bool(is_sentence or is_phrase)
        case ast.Subscript(value=ast.Name(id="Literal" | "frozenset" | "dict" | "set")):
            return True
    return False


def _is_list_of_names(parents: tuple[ast.AST, ...]) -> bool:
    """Whether a tuple there is a list of names and not a pair of values."""
    parent = parents[-1]
    if isinstance(parent, ast.Compare | ast.ExceptHandler | ast.Starred):
        return True
    if isinstance(parent, ast.Call):
        return _name_function(parent) in ("isinstance", "startswith", "endswith", "frozenset")
    return not any(isinstance(outer, ast.FunctionDef | ast.Lambda) for outer in parents)


def _name_function(call: ast.Call) -> str:
    return str(getattr(call.func, "id", getattr(call.func, "attr", "")))

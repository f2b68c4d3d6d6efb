"""Faults in expressions: each function gives the texts that may stand in a node's place."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

_OPERATORS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
    ast.BitXor: ast.BitOr,
}
_CALLS = {"any": "all", "all": "any", "min": "max", "max": "min"}
# What gives back its object a little changed.
_REFINING = frozenset("lower upper strip lstrip rstrip removesuffix removeprefix copy".split())
_LARGE = 10
_TRANSPARENT = frozenset({"sorted", "reversed", "abs"})

Found = Iterator[tuple[str, str]]


def list_faults(node: ast.expr) -> Found:
    """(kind, text) of each fault of this one node; those below it are for the caller."""
    match node:
        case ast.Compare():
            yield from _compare(node)
        case ast.BoolOp():
            yield from _boolean(node)
        case ast.UnaryOp(op=ast.Not()):
            yield "not dropped", _render(node.operand)
        case ast.BinOp():
            yield from _binary(node)
        case ast.Call():
            yield from _call(node)
        case ast.Constant():
            yield from _constant(node)
        case ast.Dict():
            for at, key in enumerate(node.keys):
                if len(node.keys) > 1 and key is not None:
                    changed = copy.deepcopy(node)
                    del changed.keys[at], changed.values[at]
                    yield "key dropped", _render(changed)
        case ast.Set() | ast.List() | ast.Tuple():
            yield from _elements(node)
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
            for at, generator in enumerate(node.generators):
                for which in range(len(generator.ifs)):
                    changed_comp = copy.deepcopy(node)
                    del changed_comp.generators[at].ifs[which]
                    yield "filter dropped", _render(changed_comp)
        case ast.IfExp():
            yield from negate_test(node.test)


def negate_test(test: ast.expr) -> Found:
    """The negated test, where no other fault negates it."""
    if not (isinstance(test, ast.Compare) and len(test.ops) == 1) and not (
        isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    ):
        yield "branches swapped", f"(not {_render(test)})"


def _compare(node: ast.Compare) -> Found:
    for at, operator in enumerate(node.ops):
        changed = copy.deepcopy(node)
        changed.ops[at] = _OPERATORS[type(operator)]()
        yield "comparison", _render(changed)


def _boolean(node: ast.BoolOp) -> Found:
    changed = copy.deepcopy(node)
    changed.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield "and/or", _render(changed)
    for at in range(len(node.values)):
        fewer = copy.deepcopy(node)
        del fewer.values[at]
        yield "condition dropped", _render(fewer if len(fewer.values) > 1 else fewer.values[0])


def _binary(node: ast.BinOp) -> Found:
    if isinstance(node.op, ast.BitOr) and _are_types(node):
        # isinstance(x, A | B): the left side may be a union too, whose parts are visited later.
        yield "type dropped", _render(node.left)
        yield "type dropped", _render(node.right)
    elif type(node.op) in _ARITHMETIC:
        changed = copy.deepcopy(node)
        changed.op = _ARITHMETIC[type(node.op)]()
        yield "operator", _render(changed)


def _are_types(node: ast.expr) -> bool:
    if isinstance(node, ast.BinOp):
        return _are_types(node.left) and _are_types(node.right)
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    is_module_constant = name.startswith("_")
    return (name[:1].isupper() and not is_module_constant) or name in (
        "bool",
        "int",
        "float",
        "str",
    )


def _call(node: ast.Call) -> Found:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in _CALLS:
        changed = copy.deepcopy(node)
        changed.func = ast.Name(_CALLS[name])
        yield "call", _render(changed)
    if name in _TRANSPARENT and len(node.args) == 1 and not node.keywords:
        yield "call dropped", _render(node.args[0])
    if isinstance(node.func, ast.Attribute) and node.func.attr in _REFINING:
        yield "call dropped", _render(node.func.value)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "split":
        words = node.func.value
        if isinstance(words, ast.Constant) and isinstance(words.value, str) and not node.args:
            each = words.value.split()
            for word in each:
                rest = " ".join(other for other in each if other != word)
                yield "word dropped", f"{rest!r}.split()"
    for at, keyword in enumerate(node.keywords):
        if keyword.arg is not None:
            fewer = copy.deepcopy(node)
            del fewer.keywords[at]
            yield "argument dropped", _render(fewer)


def _constant(node: ast.Constant) -> Found:
    value = node.value
    if isinstance(value, bool):
        yield "constant", str(not value)
    elif isinstance(value, int | float):
        # A limit is wrong when it is another order of size, a count when it is off by one.
        yield "constant", repr(value * 2 if value >= _LARGE else value + 1)
    elif isinstance(value, str):
        yield "constant", repr(f"{value}~" if value else "~")


def _elements(node: ast.Set | ast.List | ast.Tuple) -> Found:
    if len(node.elts) < 2 or not isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
        return
    for at in range(len(node.elts)):
        changed = copy.deepcopy(node)
        del changed.elts[at]
        yield "element dropped", _render(changed)


def _render(node: ast.expr) -> str:
    return f"({ast.unparse(node)})"

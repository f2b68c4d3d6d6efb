"""Concatenation of texts."""

from __future__ import annotations

from sqlglot import exp

from repair.normalize.calls import list_inner_first, read_text, replace_calls, write, write_operand
from repair.normalize.facts import Facts
from repair.normalize.readers import read_part


def concatenation(tree: exp.Expr, facts: Facts) -> bool:
    """``a + ' ' + b`` becomes ``a || ' ' || b``; so does ``CONCAT`` on SQLite, which lacks it."""
    changed = False
    for node in list_inner_first(tree, exp.Add):
        if _is_text(node, facts):
            node.replace(write("{a} || {b}", facts, a=_open(node.left), b=_open(node.right)))
            changed = True

    def build(call: exp.Anonymous) -> exp.Expr | None:
        args = call.expressions
        if facts.target != "sqlite" or not args:
            return None
        texts = [write_operand(arg, facts) for arg in args]
        if call.name.upper() == "CONCAT":
            return read_part(f"({' || '.join(texts)})" if len(texts) > 1 else texts[0], "sqlite")
        if len(texts) < 2:
            return None
        return read_part(f"({f' || {texts[0]} || '.join(texts[1:])})", "sqlite")

    return replace_calls(tree, ("CONCAT", "CONCAT_WS"), build) or changed


def _is_text(node: exp.Add, facts: Facts) -> bool:
    """Whether one side is text that cannot be a number, or both are text."""
    kinds = {facts.kind_of(node.left), facts.kind_of(node.right)}
    if kinds & {"date", "timestamp", "interval"}:
        return False
    if isinstance(node.left, exp.DPipe) or isinstance(node.right, exp.DPipe):
        return True
    texts = (read_text(node.left), read_text(node.right))
    is_word = any(
        text is not None and not text.strip().replace(".", "").isdigit() for text in texts
    )
    return is_word or kinds == {"text"}


def _open(node: exp.Expr) -> str | exp.Expr:
    """The operand, without parentheses if it is a concatenation itself."""
    if isinstance(node, exp.DPipe):
        return " || ".join(str(part.sql()) for part in (node.left, node.right))
    return node

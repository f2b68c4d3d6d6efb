"""PostgreSQL's parse trees: the nodes in a node, and what of it is only its place in the text."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import FieldDescriptor

PLACES = frozenset(
    "location list_start list_end rexpr_list_start rexpr_list_end name_location stmt_location "
    "stmt_len".split()
)
"""The fields in which equal statements may differ."""


def list_children(node: Any) -> list[Any]:
    """The nodes directly in a node."""
    children: list[Any] = []
    for descriptor, value in node.ListFields():
        if descriptor.type == FieldDescriptor.TYPE_MESSAGE:
            children.extend(value if descriptor.is_repeated else (value,))
    return children


def forget_places(message: Any) -> None:
    """Clears the places of a node and of all nodes in it, in place."""
    pending = [message]
    while pending:
        node = pending.pop()
        for place in PLACES.intersection(node.DESCRIPTOR.fields_by_name):
            node.ClearField(place)
        pending.extend(list_children(node))

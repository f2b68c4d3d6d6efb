"""PostgreSQL's parse trees: what of a node is only its place in the text."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import FieldDescriptor

PLACES = frozenset(
    "location list_start list_end rexpr_list_start rexpr_list_end name_location stmt_location "
    "stmt_len".split()
)
"""The fields in which equal statements may differ."""


def forget_places(message: Any) -> None:
    """Clears the places of a node and of all nodes in it, in place."""
    pending = [message]
    while pending:
        node = pending.pop()
        for descriptor, value in node.ListFields():
            if descriptor.name in PLACES:
                node.ClearField(descriptor.name)
            elif descriptor.type == FieldDescriptor.TYPE_MESSAGE:
                if descriptor.is_repeated:
                    pending.extend(value)
                else:
                    pending.append(value)

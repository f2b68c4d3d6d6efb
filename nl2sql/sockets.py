"""Whether the other end of a connection has said anything.

Knows nothing of protocols: what waits to be read may be a farewell or a notice.
"""

from __future__ import annotations

import select


def is_quiet(descriptor: int) -> bool:
    """True where the connection is open and nothing waits to be read.

    A server that ends a connection, or ends itself, leaves something to read on an idle one: at
    least the end of the stream. To look costs one call of the system and no round trip.

    >>> import socket
    >>> here, there = socket.socketpair()
    >>> is_quiet(here.fileno())
    True
    >>> there.close()
    >>> is_quiet(here.fileno())
    False
    >>> here.close()
    """
    waiting = select.poll()
    waiting.register(descriptor, select.POLLIN)
    return not waiting.poll(0)

"""Checks whether data, or the end of the stream, is waiting on a connection.

Knows nothing of protocols: the waiting data may be a closing message or a notice.
"""

from __future__ import annotations

import select


def is_quiet(descriptor: int) -> bool:
    """True if the connection is open and nothing waits to be read.

    If the server closes an idle connection or stops, there is something to read: at least the end
    of the stream. The check costs one system call and no round trip.

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

"""What asking can raise, over HTTP and in process alike.

An answer that is not one (a refusal, a clarification, a failure) is a value; an exception means
that there is no answer. The tree::

    QuorumError                     has .hint: what to do about it
    ├── InvalidRequest              the request is wrong; .field names what
    │   └── UnknownDatabase         no database of that name is configured
    ├── Unauthenticated             nobody knows who asks
    ├── Forbidden                   the caller may not do that
    ├── LimitReached                the caller asked too often; .retry_after_s says when to go on
    ├── Unavailable                 something the service needs does not answer; try again later
    │   └── Busy                    the service has too many requests; .retry_after_s says when
    └── DeadlineExceeded            the request took longer than it may

All survive pickle.
"""

from __future__ import annotations


class QuorumError(Exception):
    """Base of all errors. ``message`` says what is wrong, ``hint`` what to do about it."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        # Exception.__reduce__ replays only positional arguments; keyword-only ones would be lost.
        return type(self).__new__, (type(self), *self.args), self.__dict__.copy()

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


class InvalidRequest(QuorumError):
    """The caller's input is wrong. ``field`` is its name in the request body."""

    def __init__(self, message: str, *, field: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field


class UnknownDatabase(InvalidRequest):
    """No database of that name is configured, or the request names none and has to."""

    def __init__(self, database: str, known: tuple[str, ...]) -> None:
        super().__init__(
            f"There is no database {database!r}." if database else "Name a database.",
            field="database",
            hint=f"Known: {', '.join(known) or 'none'}.",
        )


class Unauthenticated(QuorumError):
    """The request does not say who asks, or its token is not valid."""


class Forbidden(QuorumError):
    """The caller is known and may not do that."""


class LimitReached(QuorumError):
    """The caller used up what it may: requests, tokens or rows. ``retry_after_s`` is in seconds."""

    def __init__(self, message: str, *, retry_after_s: float, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class Unavailable(QuorumError):
    """Something the service needs does not answer; the same request may succeed later.

    ``retry_after_s`` says when to try again, in seconds.
    """

    def __init__(self, message: str, *, hint: str = "", retry_after_s: float = 5.0) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


class Busy(Unavailable):
    """The service has too many requests; it may take the same one ``retry_after_s`` later."""


class DeadlineExceeded(QuorumError):
    """The request took longer than it may."""

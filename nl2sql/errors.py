"""Every exception that QuorumSQL raises on purpose.

An expected failure (a bad candidate, a failed EXPLAIN, a refusal) is a value; an exception is a
broken promise. The tree::

    QuorumError                     has .hint: what to do about it
    ├── SettingsError               quorumsql.yaml or a flag is wrong
    │   └── PolicyError             a policy file is wrong, or does not fit its database
    ├── InvalidRequest              the caller's input is wrong; .field names it
    │   └── UnknownDatabase         no database of that name is configured
    ├── Unauthenticated             nobody knows who asks
    ├── Unavailable                 something we depend on does not answer; try again later
    │   ├── DatabaseUnavailable     .database names it
    │   ├── IndexUnavailable        the index store is down, or the database was never indexed
    │   │   └── IndexReplaced       a newer index took the place of the one that was read
    │   └── EngineUnavailable       the language model's engine is down or overloaded
    ├── PromptTooLong               schema and question do not fit into the model's context
    ├── DeadlineExceeded            the request took longer than it may
    ├── InsecureRole                the database role could write, so it is not used at all
    └── ModelError                  weights cannot be had
        ├── UnknownModel            the name is neither in the registry, nor a folder, nor a hub id
        ├── ModelUnreachable        no source answered
        ├── ModelCorrupt            a file's SHA-256 is not the registered one
        └── DiskFull                there is no room for the weights

Vendor errors are translated once, where the vendor is called, with ``from``. All of these cross
process boundaries, so each survives pickle.
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
        return (_rebuild, (type(self), self.args, self.__dict__.copy()))

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()


def _rebuild(kind: type[QuorumError], args: tuple[str, ...], state: dict[str, object]) -> object:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(state)
    return error


class SettingsError(QuorumError):
    """The configuration is wrong."""


class PolicyError(SettingsError):
    """A policy file is wrong, or names what its database does not have."""


class InvalidRequest(QuorumError):
    """The caller's input is wrong. ``field`` is its name in the request body."""

    def __init__(self, message: str, *, field: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field


class UnknownDatabase(InvalidRequest):
    """No database of that name is configured."""

    def __init__(self, database: str, known: tuple[str, ...]) -> None:
        super().__init__(
            f"There is no database {database!r}.",
            field="database",
            hint=f"Known: {', '.join(known) or 'none'}.",
        )


class Unauthenticated(QuorumError):
    """The request does not say who asks, or with a token that nobody has."""


class Unavailable(QuorumError):
    """Something we depend on does not answer; the same request may succeed later."""


class DatabaseUnavailable(Unavailable):
    """The database ``database`` does not answer."""

    def __init__(self, message: str, *, database: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.database = database


class IndexUnavailable(Unavailable):
    """The index store does not answer, or the database was never indexed."""


class IndexReplaced(IndexUnavailable):
    """What was read of the index is no longer the live one: read its head again."""


class EngineUnavailable(Unavailable):
    """The language model's engine is down or overloaded."""


class PromptTooLong(QuorumError):
    """Schema and question together are longer than the model's context."""


class DeadlineExceeded(QuorumError):
    """The request took longer than it may."""


class InsecureRole(QuorumError):
    """The role given for running queries could do more than read."""


class ModelError(QuorumError):
    """The weights of a language model cannot be had."""


class UnknownModel(ModelError):
    """The name is neither in the registry, nor a folder, nor a hub id."""


class ModelUnreachable(ModelError):
    """No source of the weights answered."""


class ModelCorrupt(ModelError):
    """A file's SHA-256 is not the registered one."""


class DiskFull(ModelError):
    """There is no room for the weights."""

"""Every exception that QuorumSQL raises on purpose.

An expected failure (a bad candidate, a failed EXPLAIN, a refusal) is a value; an exception is a
broken promise. The tree::

    QuorumError                     has .hint: what to do about it
    ├── SettingsError               quorumsql.yaml or a flag is wrong
    │   └── PolicyError             a policy file is wrong, or does not fit its database
    ├── InvalidRequest              the caller's input is wrong; .field names it
    │   └── UnknownDatabase         no database of that name is configured
    ├── Unauthenticated             the request does not say who asks
    ├── Unavailable                 a dependency does not answer; try again later
    │   ├── DatabaseUnavailable     .database names it
    │   ├── IndexUnavailable        the index store is down, or the database was never indexed
    │   │   └── IndexReplaced       a newer index replaced the one that was read
    │   └── EngineUnavailable       the language model's engine is down or overloaded
    ├── PromptTooLong               schema and question do not fit into the model's context
    ├── DeadlineExceeded            the request exceeded its time limit
    ├── InsecureRole                the database role could write, so it is not used at all
    └── ModelError                  the model's weights cannot be obtained
        ├── UnknownModel            the name is neither in the registry, nor a folder, nor a hub id
        ├── ModelUnreachable        no source answered
        ├── ModelCorrupt            a file's SHA-256 is not the registered one
        └── DiskFull                there is not enough disk space for the weights

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
    """A policy file is wrong, or names objects that its database does not have."""


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
    """The request has no token, or one that belongs to no principal."""


class Unavailable(QuorumError):
    """A dependency does not answer; the same request may succeed later."""


class DatabaseUnavailable(Unavailable):
    """The database ``database`` does not answer."""

    def __init__(self, message: str, *, database: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.database = database


class IndexUnavailable(Unavailable):
    """The index store does not answer, or the database was never indexed."""


class IndexReplaced(IndexUnavailable):
    """The index that was read has been replaced: read its head again."""


class EngineUnavailable(Unavailable):
    """The language model's engine is down or overloaded."""


class PromptTooLong(QuorumError):
    """Schema and question together are longer than the model's context."""


class DeadlineExceeded(QuorumError):
    """The request exceeded its time limit."""


class InsecureRole(QuorumError):
    """The role configured for running queries can do more than read."""


class ModelError(QuorumError):
    """The weights of a language model cannot be obtained."""


class UnknownModel(ModelError):
    """The name is neither in the registry, nor a folder, nor a hub id."""


class ModelUnreachable(ModelError):
    """No source of the weights answered."""


class ModelCorrupt(ModelError):
    """A file's SHA-256 is not the registered one."""


class DiskFull(ModelError):
    """There is not enough disk space for the weights."""

"""Every exception that QuorumSQL raises on purpose.

An expected failure (a bad candidate, a failed EXPLAIN, a refusal) is a value; an exception is a
broken promise. The tree::

    QuorumError                     has .hint: what to do about it
    ├── SettingsError               quorumsql.yaml or a flag is wrong
    │   └── PolicyError             a policy file is wrong, or does not fit its database
    ├── InvalidRequest              the caller's input is wrong; .field names it
    │   └── UnknownDatabase         no database of that name is configured
    ├── Unauthenticated             the request does not say who asks
    ├── Forbidden                   the caller may not do that
    ├── LimitReached                the caller used up what it may
    ├── Unavailable                 a dependency does not answer; try again later
    │   ├── Busy                    there are too many requests; .retry_after_s says when to retry
    │   ├── ServerUnavailable       a database server does not answer; .said is the cause
    │   │   ├── DatabaseUnavailable .database names it
    │   │   └── IndexUnavailable    the index store is down, or the database was never indexed
    │   └── EngineUnavailable       the language model's engine is down or overloaded
    ├── PromptTooLong               schema and question do not fit into the model's context
    ├── PromptWithheld              a prompt holds more than ``model.send`` lets the model see
    ├── DeadlineExceeded            the request exceeded its time limit
    ├── InsecureRole                the database role could write, so it is not used at all
    └── ModelError                  the model's weights cannot be obtained
        ├── UnknownModel            the name is neither in the registry, nor a folder, nor a hub id
        ├── ModelUnreachable        no source answered
        ├── ModelCorrupt            a file's SHA-256 is not the registered one
        └── DiskFull                there is not enough disk space for the weights

Vendor errors are translated once, where the vendor is called, with ``from``. All of these cross
process boundaries, so each survives pickle. What a caller can meet, over HTTP too, is in
``quorumsql.errors``.
"""

from __future__ import annotations

from quorumsql.errors import (
    Busy,
    DeadlineExceeded,
    Forbidden,
    InvalidRequest,
    LimitReached,
    QuorumError,
    Unauthenticated,
    Unavailable,
    UnknownDatabase,
)


class SettingsError(QuorumError):
    """The configuration is wrong."""


class PolicyError(SettingsError):
    """A policy file is wrong, or names objects that its database does not have."""


class ServerUnavailable(Unavailable):
    """A database or the index does not answer.

    ``said`` is the cause, and what to do: for operators, not for those who ask over HTTP.
    """

    def __init__(self, message: str, *, hint: str = "", said: str = "") -> None:
        super().__init__(message, hint=hint)
        self.said = said.strip()

    @property
    def details(self) -> str:
        """The whole for operators, in one line."""
        return f"{self.message} {self.said}" if self.said else str(self)


class DatabaseUnavailable(ServerUnavailable):
    """The database ``database`` does not answer."""

    def __init__(self, message: str, *, database: str, hint: str = "", said: str = "") -> None:
        super().__init__(message, hint=hint, said=said)
        self.database = database


class IndexUnavailable(ServerUnavailable):
    """The index store does not answer, or the database was never indexed."""


class EngineUnavailable(Unavailable):
    """The language model's engine is down or overloaded."""


class PromptTooLong(QuorumError):
    """Schema and question together are longer than the model's context."""


class PromptWithheld(QuorumError):
    """A prompt holds more than ``model.send`` lets the model see, so it was not sent."""


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

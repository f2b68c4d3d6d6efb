"""Every exception that QuorumSQL raises on purpose.

An expected failure (a bad candidate, a failed EXPLAIN, a refusal) is a value; an exception is a
broken promise. The tree::

    QuorumError                     has .hint: what to do about it
    ├── SettingsError               quorumsql.yaml or a flag is wrong
    │   └── PolicyError             a policy file is wrong, or does not fit its database
    ├── InvalidRequest              the caller's input is wrong; .field names it
    │   └── UnknownDatabase         no database of that name is configured
    ├── Unauthenticated             nobody knows who asks
    ├── Forbidden                   the caller may not do that
    ├── LimitReached                the caller used up what it may
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
process boundaries, so each survives pickle. What a caller can meet, over HTTP too, is in
``quorumsql.errors``.
"""

from __future__ import annotations

from quorumsql.errors import (
    DeadlineExceeded,
    Forbidden,
    InvalidRequest,
    LimitReached,
    QuorumError,
    Unauthenticated,
    Unavailable,
    UnknownDatabase,
)

__all__ = [
    "DatabaseUnavailable",
    "DeadlineExceeded",
    "DiskFull",
    "EngineUnavailable",
    "Forbidden",
    "IndexReplaced",
    "IndexUnavailable",
    "InsecureRole",
    "InvalidRequest",
    "LimitReached",
    "ModelCorrupt",
    "ModelError",
    "ModelUnreachable",
    "PolicyError",
    "PromptTooLong",
    "QuorumError",
    "SettingsError",
    "Unauthenticated",
    "Unavailable",
    "UnknownDatabase",
    "UnknownModel",
]


class SettingsError(QuorumError):
    """The configuration is wrong."""


class PolicyError(SettingsError):
    """A policy file is wrong, or names what its database does not have."""


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

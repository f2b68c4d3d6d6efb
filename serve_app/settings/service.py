"""The HTTP service, its page, what it records, and the index."""

from __future__ import annotations

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, field_validator

from nl2sql.settings.database import ConnectionSettings
from nl2sql.settings.section import Section

_PLAIN = "in lower case, without a path"


def _matching(form: str, wanted: str) -> AfterValidator:
    """Refuses a text that does not have this form; ``wanted`` says which ones have."""

    def check(text: str) -> str:
        if not re.fullmatch(form, text):
            raise ValueError(f"{text!r} is no {wanted}")
        return text

    return AfterValidator(check)


_ORIGIN = r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?"
_Host = Annotated[
    str,
    _matching(
        r"\*|(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*",
        "host: write sql.example.com, *.example.com or *, in lower case, without scheme and port",
    ),
]
_Origin = Annotated[str, _matching(_ORIGIN, f"origin: write https://app.example.com, {_PLAIN}")]
_Address = Annotated[
    str, _matching(f"({_ORIGIN})?", f"address: write https://sql.example.com, {_PLAIN}")
]


class ServeSettings(Section):
    """The HTTP service."""

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=1, le=65_535, description="Port to listen on.")
    allowed_hosts: tuple[_Host, ...] = Field(
        (),
        description="Names by which clients may reach the service, besides localhost, this "
        "machine's name and all IP addresses: sql.example.com, *.example.com, or * for any.",
    )
    allowed_origins: tuple[_Origin, ...] = Field(
        (),
        description="Origins of web pages that may send requests, as https://app.example.com; the "
        "service's own pages always may.",
    )
    public_url: _Address = Field(
        "",
        description="Address by which clients reach the service, as https://sql.example.com, for "
        "MCP clients that log in. Empty: the address of each request; behind a proxy that ends "
        "TLS it is needed.",
    )
    allow_anonymous: bool = Field(
        False,
        description="Serve other machines although no principal has a token: every client asks as "
        "identity.local.",
    )
    dashboard: bool = Field(True, description="Start the Ray dashboard (port 8265).")
    fuse_cpu_stages: bool = Field(
        True,
        description="Run all CPU stages in the ingress replica: right for one machine. false gives "
        "each stage a deployment that scales separately.",
    )
    max_ongoing_requests: int = Field(
        64,
        ge=1,
        description="Concurrent requests for each replica; the engine batches them. Four times as "
        "many may wait; further ones are answered with 503. One principal gets at most three "
        "quarters of both.",
    )
    max_slowdown: float = Field(
        3.0,
        ge=1.0,
        description="How many times as long as in an idle replica a question may take; one that "
        "would make them slower is answered with 503 and a time to try again. Answers within half "
        "a second are never too slow.",
    )

    @property
    def max_waiting_requests(self) -> int:
        """Waiting requests for each replica, beyond which one is refused."""
        return 4 * self.max_ongoing_requests


class AuditSettings(Section):
    """The record of who asked what, and which queries ran. Results are never recorded."""

    enabled: bool = Field(
        False, description="Record questions in the table quorumsql.audit_log of the index."
    )
    keep_days: int = Field(90, ge=1, description="Days after which a record is deleted.")


class PageSettings(Section):
    """The page at ``/``. The lists of roles count only where HTTP requests need a token."""

    enabled: bool = Field(True, description="Serve the page at `/`.")
    review_roles: tuple[str, ...] = Field(
        (), description="Roles whose people may work through answers that were said to be wrong."
    )
    operate_roles: tuple[str, ...] = Field(
        (),
        description="Roles whose people see in traces their queries with what the policy added, "
        "which names what it hides.",
    )
    sign_in_hours: int = Field(
        12, ge=1, le=8760, description="A sign-in on the page ends after this many hours."
    )


class ObservabilitySettings(Section):
    """What the service reports about the questions that it answers."""

    log_questions: bool = Field(
        False, description="Write the text of questions into the log. Rows are never logged."
    )
    metrics_port: int | None = Field(
        None,
        ge=1,
        le=65_535,
        description="Port of the Prometheus metrics, where `quorumsql serve` starts Ray; null: any "
        "free port.",
    )
    traces_endpoint: str = Field(
        "",
        description="Address that receives OpenTelemetry traces by OTLP over HTTP, such as "
        "http://localhost:4318/v1/traces; empty: no traces.",
    )

    @field_validator("traces_endpoint")
    @classmethod
    def _is_address(cls, url: str) -> str:
        parts = urlsplit(url)
        if url and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ValueError("it must look like http://host:4318/v1/traces")
        if "@" in parts.netloc:
            # The address is printed in error messages.
            raise ValueError(
                "it holds a user or key; set the environment variable OTEL_EXPORTER_OTLP_HEADERS"
            )
        return url


class IndexSettings(Section):
    """The schema index: in a PostgreSQL database with pgvector, in the schema `quorumsql`."""

    connection: ConnectionSettings = ConnectionSettings(url="embedded")
    embedder: str = Field(
        "all-MiniLM-L6-v2",
        description="The embedding model. Others than the default (sentence-transformers, by name, "
        "hub id or folder) need the extra `embedders`.",
    )


class AnswerSettings(Section):
    """Answers in words."""

    text: Literal["off", "rule", "model"] = Field(
        "rule",
        description="What words an answer when the request does not say: nothing; a rule, which "
        "says little; or the model, whose text is checked against the rows.",
    )

"""The HTTP service's address, its allowed clients, and its load limits."""

from __future__ import annotations

import re

from pydantic import Field, field_validator

from nl2sql.settings.section import Section

_HOST = re.compile(r"\*|(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_ORIGIN = re.compile(r"https?://([a-z0-9._-]+|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")


class ServeSettings(Section):
    """The HTTP service."""

    host: str = Field("127.0.0.1", description="Address to listen on.")
    port: int = Field(8000, ge=1, le=65_535, description="Port to listen on.")
    allowed_hosts: tuple[str, ...] = Field(
        (),
        description="Names by which clients may reach the service, besides localhost, this "
        "machine's name and all IP addresses: sql.example.com, *.example.com, or * for any.",
    )
    allowed_origins: tuple[str, ...] = Field(
        (),
        description="Origins of web pages that may send requests, as https://app.example.com; the "
        "service's own pages always may.",
    )
    public_url: str = Field(
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
        description="Concurrent requests for each replica; the engine batches them. One principal "
        "gets at most three quarters of them.",
    )
    max_waiting_requests: int = Field(
        256,
        ge=0,
        description="Waiting requests for each replica, of one principal at most three quarters; "
        "further ones are answered with 503.",
    )

    max_slowdown: float = Field(
        3.0,
        ge=1.0,
        description="How many times as long as in an idle replica a question may take; one that "
        "would make them slower is answered with 503 and a time to try again. Answers within half "
        "a second are never too slow.",
    )

    @field_validator("allowed_hosts")
    @classmethod
    def _are_hosts(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if not _HOST.fullmatch(name):
                raise ValueError(
                    f"{name!r} is no host: write sql.example.com, *.example.com or *, in lower "
                    "case, without scheme and port"
                )
        return names

    @field_validator("public_url")
    @classmethod
    def _is_origin(cls, url: str) -> str:
        if url and not _ORIGIN.fullmatch(url):
            raise ValueError(
                f"{url!r} is no address: write https://sql.example.com, in lower case, without a "
                "path"
            )
        return url

    @field_validator("allowed_origins")
    @classmethod
    def _are_origins(cls, origins: tuple[str, ...]) -> tuple[str, ...]:
        for origin in origins:
            if not _ORIGIN.fullmatch(origin):
                raise ValueError(
                    f"{origin!r} is no origin: write https://app.example.com, in lower case, "
                    "without a path"
                )
        return origins

"""Where the HTTP service listens, whom it answers, and how much it takes on at a time."""

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
        description="Web pages that may ask from a browser, as https://app.example.com; pages of "
        "the service itself always may.",
    )
    allow_anonymous: bool = Field(
        False,
        description="Serve beyond this machine although no principal has a token: whoever reaches "
        "the service asks as identity.local.",
    )
    dashboard: bool = Field(True, description="Start the Ray dashboard (port 8265).")
    fuse_cpu_stages: bool = Field(
        True,
        description="All CPU stages in the ingress replica: right for one machine. "
        "false gives each stage a deployment that scales on its own.",
    )
    max_ongoing_requests: int = Field(
        64, ge=1, description="Requests in flight a replica; the engine batches them."
    )
    max_waiting_requests: int = Field(
        256,
        ge=0,
        description="Requests a replica that wait until one in flight has ended; more are "
        "answered 503.",
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

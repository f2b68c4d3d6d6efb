"""Metrics, traces and logs: the section ``observability``."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, field_validator

from nl2sql.settings.section import Section


class ObservabilitySettings(Section):
    """What the service reports about the questions that it answers."""

    log_format: Literal["text", "json"] = Field(
        "text", description="The form of log lines; one line is written for each question."
    )
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

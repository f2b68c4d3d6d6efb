"""Checks the address of a model's server."""

from __future__ import annotations

from urllib.parse import urlsplit


def check_base_url(url: str) -> None:
    """Raises ValueError for anything but a plain http or https address.

    Keys belong in the environment: an address is printed, logged and stored with measurements.

    >>> check_base_url("http://127.0.0.1:8000/v1")
    >>> check_base_url("https://me:secret@example.com/v1")
    Traceback (most recent call last):
    ValueError: base_url holds a user or key; name an environment variable in api_key_env
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("base_url must look like http://host:8000/v1 or https://host/v1")
    if "@" in parts.netloc:
        raise ValueError(
            "base_url holds a user or key; name an environment variable in api_key_env"
        )
    if parts.query or parts.fragment:
        raise ValueError("base_url must end with its path, without ? or #")
    # Raises ValueError for an invalid port.
    _ = parts.port


def is_on_loopback(url: str) -> bool:
    """Whether the address is a loopback address.

    >>> is_on_loopback("http://localhost:11434/v1"), is_on_loopback("http://gpu.example.com/v1")
    (True, False)
    """
    return urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")

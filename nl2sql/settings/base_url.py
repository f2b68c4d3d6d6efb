"""Checks the address of a model's server."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

# Private networks (RFC 1918, RFC 4193) and the loopback addresses.
_OWN_NETWORKS = tuple(
    map(
        ip_network,
        ("127.0.0.0/8", "::1/128", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
    )
)
# Names that no public name server resolves: RFC 6761, 6762, 8375, ICANN's resolution on .internal,
# and services of Kubernetes.
_OWN_ENDINGS = (".localhost", ".local", ".internal", ".home.arpa", ".svc")


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


def is_in_own_network(url: str) -> bool:
    """Whether the address is one of this machine or of a private network, judged by its text.

    Nothing is resolved: the answer must not change with a name server. A name without a dot is that
    of a machine or container beside this one.

    >>> is_in_own_network("http://10.0.0.7:8000/v1"), is_in_own_network("http://vllm:8000/v1")
    (True, True)
    >>> is_in_own_network("https://api.openai.com/v1"), is_in_own_network("http://134744072/v1")
    (False, False)
    """
    host = (urlsplit(url).hostname or "").lower()
    try:
        address = ip_address(host)
    except ValueError:
        # A number without dots is another spelling of an IP address.
        return host.endswith(_OWN_ENDINGS) or ("." not in host and host[:1].isalpha())
    return any(address in network for network in _OWN_NETWORKS)

"""The language model and the engine that runs it: the section ``model``."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from nl2sql.settings.section import Milliseconds, Section
from nl2sql.types import Contents


class ModelSettings(Section):
    """The language model and its engine."""

    name: str = Field(
        "auto",
        description="A registered name, a folder or a hub id; auto: the largest that is fast "
        "enough for the processor of this machine. With openai and anthropic, the model's "
        "name at the server.",
    )
    max_model_len: int = Field(6144, ge=512, description="Context window in tokens.")
    kv_cache_gib: int = Field(1, ge=1, description="Memory for the KV cache on a CPU, in GiB.")
    gpu_memory_utilization: float = Field(
        0.9, gt=0, le=1, description="Share of the GPU memory to use."
    )
    tensor_parallel_size: int = Field(1, ge=1, description="GPUs that share one model.")
    adapter: Path | None = Field(
        None,
        description="Folder of a LoRA adapter in peft's form, for the prompts that ask for SQL "
        "(vLLM only).",
    )
    engine: Literal["auto", "openvino", "vllm", "openai", "anthropic"] = Field(
        "auto",
        description="openvino and vllm run the model here; auto is vllm where it is installed and "
        "there is a GPU, else openvino. openai asks a server that speaks OpenAI's chat completions "
        "(llama.cpp, vLLM, Ollama, hosted), anthropic one that speaks Anthropic's messages.",
    )
    base_url: str = Field(
        "",
        description="The server's address with its path, as http://host:8000/v1, without a key; "
        "for anthropic, empty means Anthropic's own server.",
    )
    api_key_env: str = Field(
        "", description="Environment variable that holds the server's key; empty: no key."
    )
    timeout_ms: Milliseconds = Field(
        600_000, description="Time limit of one request to the server."
    )
    concurrency: int = Field(16, ge=1, le=1000, description="Requests to the server at a time.")
    send: Contents | None = Field(
        None,
        description="What prompts may hold: schema (names, types, keys, comments, the question), "
        "values (also cell values, examples, database errors) or rows (also rows of results). "
        "Unset: values for a server outside of private networks, rows for any other engine.",
    )

    @property
    def is_remote(self) -> bool:
        """True if a server runs the model, so that no weights and no GPU are needed here."""
        return self.engine in ("openai", "anthropic")

    @property
    def is_outside(self) -> bool:
        """True if prompts leave the private network: Anthropic, or a server with a public address.

        The address is judged by its text, see ``is_in_own_network``; behind Anthropic's
        ``base_url`` is a proxy.
        """
        return self.engine == "anthropic" or (
            self.engine == "openai" and not is_in_own_network(self.base_url)
        )

    @property
    def sends(self) -> Contents:
        """What prompts may hold: ``send``, or what follows from the engine if that is unset."""
        return self.send or ("values" if self.is_outside else "rows")

    @model_validator(mode="after")
    def _server_is_named(self) -> ModelSettings:
        if not self.is_remote:
            return self
        if self.name in ("", "auto"):
            raise ValueError(f"engine {self.engine} needs name, the model's name there")
        if not self.base_url and self.engine == "openai":
            raise ValueError("engine openai needs base_url, as http://127.0.0.1:8000/v1")
        if self.base_url:
            check_base_url(self.base_url)
        return self


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

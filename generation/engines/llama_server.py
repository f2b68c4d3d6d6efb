"""Starts, observes and ends the process of llama.cpp's server.

The process listens on the loopback interface, at a port that the system chooses, and requires a
generated key. It ends when this process does (see ``llama_process.py``).
"""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import httpx
import psutil

from generation.engines.choice import read_cpu_flags
from nl2sql.errors import EngineUnavailable

_PROGRAM = Path(__file__).with_name("llama_process.py")
# Its package needs this library but does not contain it; slim images lack it.
_OPENMP = "libgomp.so.1"
_END_S = 10.0
_DEATH_S = 1.0
# How often a thread checks whether the others are ready, before it sleeps. Without a limit
# (OpenMP's default), 40 tokens took 75 s instead of 10 s while four other programs were busy on two
# cores; without any checks, a token takes 41 ms instead of 29 ms on idle cores. This value suits
# both.
_SPINS = "2000"
# Below the server's 5 s, so that no request uses a connection that the server is closing.
_IDLE_CONNECTION_S = 2.0
# The words before each message of llama.cpp's log.
_LOG_PREFIX_PARTS = 2
_NEWER = "unknown model architecture"


@dataclass(frozen=True, slots=True)
class LlamaArguments:
    """The server's arguments.

    ``context_tokens`` is the room for all sequences together, ``slots`` the number of concurrent
    sequences, ``prompt_cache_mib`` the memory for earlier prompts.
    """

    weights: Path
    context_tokens: int
    slots: int
    threads: int
    prompt_cache_mib: int
    adapter: Path | None = None

    def render(self, api_key: str) -> str:
        """The line of JSON that the program reads."""
        return json.dumps(
            {
                "weights": str(self.weights),
                "context_tokens": self.context_tokens,
                "slots": self.slots,
                "threads": self.threads,
                "prompt_cache_mib": self.prompt_cache_mib,
                "adapter": str(self.adapter) if self.adapter else "",
                "api_key": api_key,
            }
        )


class LlamaServer:
    """One running process and the connections to it."""

    def __init__(
        self, process: subprocess.Popen[str], log: IO[bytes], client: httpx.AsyncClient
    ) -> None:
        self.client = client
        self._process = process
        self._log = log

    @property
    def is_running(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def cpu_s(self) -> float:
        """Its processor time so far, in seconds; 0 if the process has ended."""
        try:
            times = psutil.Process(self.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)

    def wait_for_death(self) -> None:
        """Waits up to a second, because a dying process closes its connections before it ends."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_DEATH_S)

    def kill(self) -> None:
        """Kills the process and waits for its end."""
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        """Ends the process and its connections; kills it if it does not end within 10 s."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._log.close()


def start_server(arguments: LlamaArguments) -> LlamaServer:
    """Blocks until the model is loaded. Raises EngineUnavailable with llama.cpp's reason."""
    check_processor(read_cpu_flags())
    if find_spec("xllamacpp") is None:
        raise EngineUnavailable(
            "llama.cpp is not installed.",
            hint="Install the package xllamacpp, or set model.engine.",
        )
    check_system()
    api_key = secrets.token_urlsafe()
    log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the process
    process = subprocess.Popen(
        # Isolated mode: no module of the working folder may replace a library.
        [sys.executable, "-I", str(_PROGRAM)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env={**os.environ, "GOMP_SPINCOUNT": _SPINS},
        # This process handles Ctrl-C.
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(arguments.render(api_key) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except BrokenPipeError:
        line = ""
    if not line:
        status = process.wait()
        reason = read_reason(log) or f"it ended with status {status}"
        log.close()
        raise EngineUnavailable(
            f"llama.cpp does not start with {arguments.weights.name}: {reason}.",
            hint="`quorumsql doctor` checks memory and weights."
            if _NEWER not in reason
            else "Take another model, or a newer xllamacpp that knows this one.",
        )
    # No timeout: the caller's deadline ends a request.
    client = httpx.AsyncClient(
        base_url=json.loads(line)["address"],
        headers={"Authorization": f"Bearer {api_key}"},
        timeout=None,
        limits=httpx.Limits(
            max_connections=None,
            max_keepalive_connections=arguments.slots,
            keepalive_expiry=_IDLE_CONNECTION_S,
        ),
        trust_env=False,
    )
    return LlamaServer(process, log, client)


def read_reason(log: IO[bytes]) -> str:
    """The first error in the log, which causes the later ones.

    >>> import io
    >>> read_reason(io.BytesIO(b"0.00.089 E load: data is not within the file bounds\\n"))
    'load: data is not within the file bounds'
    """
    log.seek(0)
    for line in log.read().decode(errors="replace").splitlines():
        words = line.split(maxsplit=_LOG_PREFIX_PARTS)
        if len(words) > _LOG_PREFIX_PARTS and words[1] == "E":
            return words[-1].strip()
    return ""


def check_system(library: str = _OPENMP) -> None:
    """Raises EngineUnavailable if the system lacks a library that llama.cpp needs."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        raise EngineUnavailable(
            f"llama.cpp needs {library}, which this system lacks.",
            hint="On Debian and Ubuntu: apt-get install libgomp1.",
        ) from error


def check_processor(flags: frozenset[str]) -> None:
    """Raises EngineUnavailable if the processor lacks instructions that llama.cpp's build uses."""
    if flags and "avx2" not in flags:
        raise EngineUnavailable(
            "This processor has no AVX2, which llama.cpp's package needs.",
            hint="Set model.engine to openai, with the address of a server on another machine.",
        )

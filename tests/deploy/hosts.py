"""Hosts on one machine: network namespaces with an address each, all on one bridge.

They share the file system, processes and memory of the machine; only the network is their own, so
that it can be cut between some of them. The machine itself has ``Hosts.address`` on the bridge.
Needs root and Linux's ``ip``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

import psutil

# Of bridges, namespaces and interfaces; the number is the process that made them.
_OURS = re.compile(r"qh(?P<pid>\d+)(b|h\d+)")
# Where frames go that nobody is to receive: a locally administered address that no interface has.
_NOWHERE = "02:00:00:00:00:99"
_DEVICE = "eth0"
_NETWORKS = 250


@dataclass(frozen=True, slots=True)
class Host:
    """A network namespace and its IPv4 address on the bridge."""

    name: str
    address: str

    def wrap(self, command: Sequence[str]) -> list[str]:
        """The command, to be run on this host."""
        return ["ip", "netns", "exec", self.name, *command]

    def list_processes(self) -> list[psutil.Process]:
        """What runs on it."""
        found = []
        for pid in _ip("netns", "pids", self.name).split():
            try:
                found.append(psutil.Process(int(pid)))
            except psutil.NoSuchProcess:
                continue
        return found

    def kill_processes(self) -> None:
        """Kills (SIGKILL) whatever runs on it, and what that starts meanwhile."""
        while running := self.list_processes():
            for process in running:
                try:
                    process.kill()
                except psutil.NoSuchProcess:
                    continue
            psutil.wait_procs(running, timeout=1)


class Hosts:
    """One bridge with hosts; made by ``open_hosts``."""

    def __init__(self, prefix: str, network: str) -> None:
        self._prefix = prefix
        self._network = network
        self._added: list[Host] = []
        self.bridge = f"{prefix}b"
        self.address = f"{network}.1"

    def add(self) -> Host:
        """A new host."""
        number = len(self._added) + 2
        host = Host(f"{self._prefix}h{number}", f"{self._network}.{number}")
        _ip("netns", "add", host.name)
        self._added.append(host)
        # Both ends of a virtual cable.
        there = ("peer", "name", _DEVICE, "netns", host.name)
        _ip("link", "add", host.name, "type", "veth", *there)
        _ip("link", "set", host.name, "master", self.bridge, "up")
        _ip("-n", host.name, "address", "add", f"{host.address}/24", "dev", _DEVICE)
        for device in ("lo", _DEVICE):
            _ip("-n", host.name, "link", "set", device, "up")
        return host

    @contextmanager
    def cut(self, host: Host, others: Sequence[Host]) -> Iterator[None]:
        """Nothing passes between the host and the others until the block ends; nobody is told.

        The machine itself still reaches all of them.
        """
        pairs = [pair for other in others for pair in ((host, other), (other, host))]
        for one, other in pairs:
            to_nowhere = ("lladdr", _NOWHERE, "nud", "permanent", "dev", _DEVICE)
            _ip("-n", one.name, "neighbour", "replace", other.address, *to_nowhere)
        try:
            yield
        finally:
            for one, other in pairs:
                _ip("-n", one.name, "neighbour", "delete", other.address, "dev", _DEVICE)

    def close(self) -> None:
        """Ends all processes of the hosts, and removes them and the bridge."""
        for host in self._added:
            _remove_host(host.name)
        _ip("link", "delete", self.bridge)


def why_no_hosts() -> str:
    """Why this machine has none; empty where they can be made."""
    if not shutil.which("ip"):
        return "needs Linux's ip (Debian: iproute2)"
    if os.geteuid():
        return "needs root, to make network namespaces"
    name = f"qh{os.getpid()}b"
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if made.returncode:
        return f"no network namespaces: {made.stderr.strip()}"
    _ip("netns", "delete", name)
    return ""


@contextmanager
def open_hosts() -> Iterator[Hosts]:
    """Hosts that are removed at the end, and first those of runs that were broken off."""
    _remove_leftovers()
    prefix = f"qh{os.getpid()}"
    taken = {entry["local"] for link in _read_json("address") for entry in link["addr_info"]}
    network = next(
        found for number in range(_NETWORKS) if f"{(found := f'10.213.{number}')}.1" not in taken
    )
    hosts = Hosts(prefix, network)
    with ExitStack() as stack:
        _ip("link", "add", hosts.bridge, "type", "bridge")
        stack.callback(hosts.close)
        _ip("address", "add", f"{hosts.address}/24", "dev", hosts.bridge)
        _ip("link", "set", hosts.bridge, "up")
        yield hosts


def _remove_leftovers() -> None:
    for entry in _read_json("netns"):
        if _is_left(entry["name"]):
            _remove_host(entry["name"])
    for link in _read_json("link"):
        if _is_left(link["ifname"]) and link["ifname"].endswith("b"):
            _ip("link", "delete", link["ifname"])


def _is_left(name: str) -> bool:
    match = _OURS.fullmatch(name)
    return match is not None and not psutil.pid_exists(int(match["pid"]))


def _remove_host(name: str) -> None:
    Host(name, "").kill_processes()
    # With the namespace its cable would go too, but later. A broken run may have made none.
    subprocess.run(["ip", "link", "delete", name], capture_output=True, check=False)
    _ip("netns", "delete", name)


def _read_json(what: str) -> Any:
    return json.loads(_ip("-json", what, "show") or "[]")


def _ip(*arguments: str) -> str:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    assert not done.returncode, (arguments, done.stderr)
    return done.stdout

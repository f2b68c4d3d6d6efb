"""What stands for a model in OpenVINO's form: a folder without any weights, and a server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from generation.engines.openvino_server import EngineDied

CONFIG = {
    "max_position_embeddings": 2048,
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}
"""In the cache a token takes 2 layers · 2 heads · (16 + 16) · 2 bytes = 256."""


def write_folder(folder: Path) -> Path:
    """Fills the folder and returns it."""
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "openvino_model.xml").write_text("<net/>")
    (folder / "openvino_model.bin").write_bytes(bytes(1000))
    return folder


Step = tuple[int, int, bool] | None
"""What a server writes: (index, tokens, whether that ends it), or None: nothing more comes."""


class FakeServer:
    """Stands for the process; ``dies`` in the middle of its first request."""

    def __init__(self, script: Sequence[Step] = (), *, dies: bool = False, error: str = "") -> None:
        self._script, self._dies, self._error = script, dies, error
        self.is_running = True
        self.history: list[Mapping[str, Any]] = []
        self.stopped = False

    async def sample(self, body: Mapping[str, Any]) -> AsyncIterator[dict[str, Any]]:
        self.history.append(body)
        if self._error:
            yield {"error": self._error}
            return
        script = self._script or [(index, 3, True) for index in range(body["k"])]
        for step in script:
            if step is None:
                await asyncio.sleep(60)
                continue
            index, tokens, ends = step
            ids = [ord("x")] * tokens
            yield {"read": len(body["ids"]), "outputs": [[index, ids, ends]]}
            if self._dies:
                self.is_running = False
                raise EngineDied

    async def count_running(self) -> int:
        return 0

    def wait_for_death(self) -> None:
        """It is dead at once."""

    async def disconnect(self) -> None:
        """Nothing is connected."""

    def stop(self) -> None:
        self.stopped = True


class Starter:
    """Hands out servers and errors in order; ``history`` are the servers."""

    def __init__(self, *outcomes: FakeServer | Exception) -> None:
        self.queue = list(outcomes)
        self.history: list[FakeServer] = []

    def __call__(self, *_: object) -> Any:
        outcome = self.queue.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        self.history.append(outcome)
        return outcome

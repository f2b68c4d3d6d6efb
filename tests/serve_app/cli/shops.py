"""A folder with settings, as a user of the commands has it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from execution.postgres.embedded import EmbeddedServer
from tests.execution.sqlite.shop import build_shop


@contextmanager
def shop_settings(pairs: str) -> Iterator[Path]:
    """Settings with a shop in a file, and a home whose embedded server holds the index.

    ``pairs`` are the lines of ``pairs.jsonl`` beside them.
    """
    home = Path(tempfile.mkdtemp(prefix="quorumsql-"))
    build_shop(home / "shop.db")
    value = {"home": str(home), "databases": {"shop": {"reader": {"url": "sqlite:///shop.db"}}}}
    (home / "quorumsql.yaml").write_text(yaml.safe_dump(value))
    (home / "pairs.jsonl").write_text(pairs)
    # Held open, so that not every command starts a server.
    server = EmbeddedServer(home / "postgres")
    server.start()
    yield home / "quorumsql.yaml"
    server.stop()
    shutil.rmtree(home, ignore_errors=True)

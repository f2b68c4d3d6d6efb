"""The protocol's own conformance suite (npm), unmodified, against ``/mcp`` over fakes.

The suite is written for servers with tools of its own choice. What fails for want of those, or of
parts of the protocol that the server does not declare, is listed with the reason in
``conformance_baseline.yaml``.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from execution.guard.guard import SqlGuard
from tests.fakes import SHOP, FakeCatalogs, build_result
from tests.retrieval.directories import build_directory
from tests.serve_app.served import OneQueryGenerator, build_app, serve

pytestmark = [
    pytest.mark.long,
    pytest.mark.timeout(600),
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed"),
]

# The first versions of the suite that know the protocol of 2026-07-28 are previews; they need a
# newer Node.js than most systems have.
PACKAGES = ("@modelcontextprotocol/conformance@0.2.0-alpha.12", "node@22.23.3")
BASELINE = Path(__file__).with_name("conformance_baseline.yaml")


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the installed packages."""
    folder = tmp_path_factory.mktemp("conformance")
    npm = ("npm", "install", "--prefix", folder, "--no-audit", "--no-fund", *PACKAGES)
    subprocess.run(npm, check=True)
    return folder / "node_modules"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    app = build_app(
        schemas=build_directory(SqlGuard(FakeCatalogs(SHOP))),
        generator=OneQueryGenerator(),
        results={"SELECT 1": [build_result((1,))] * 10_000},
    )
    with serve(app) as url:
        yield f"{url}/mcp"


@pytest.mark.parametrize(
    ("version", "passed"), [("2025-06-18", 29), ("2025-11-25", 35), ("2026-07-28", 84)]
)
def test_only_what_the_baseline_lists_fails(
    modules: Path, url: str, tmp_path: Path, version: str, passed: int
) -> None:
    command = (
        *(modules / "node/bin/node", modules / "@modelcontextprotocol/conformance/dist/index.js"),
        *("server", "--url", url, "--suite", "all", "--spec-version", version),
        *("--expected-failures", BASELINE, "--output-dir", tmp_path),
    )
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert f"Total: {passed} passed" in done.stdout, done.stdout[-6000:]

"""Each module of the page can be read, and exports what others import. Node reads, no browser."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.conftest import ROOT

STATIC = ROOT / "serve_app" / "page" / "static"
LINK = """
const fs = require("fs"), path = require("path"), { SourceTextModule } = require("vm");
const known = new Map();
function read(file) {
  const content = fs.readFileSync(file, "utf8");
  if (!known.has(file)) known.set(file, new SourceTextModule(content, { identifier: file }));
  return known.get(file);
}
const find = (name, from) => read(path.resolve(path.dirname(from.identifier), name));
(async () => {
  for (const file of process.argv.slice(1)) {
    if (read(file).status === "unlinked") await read(file).link(find);
  }
})();
"""


def test_modules_link() -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node")
    files = [str(file) for file in sorted(STATIC.glob("js/**/*.js"))]
    done = subprocess.run(
        [node, "--experimental-vm-modules", "--no-warnings", "-e", LINK, *files],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr

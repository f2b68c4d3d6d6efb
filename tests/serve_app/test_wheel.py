"""What a user installs, with the commands of the documentation, and uses far away from this tree.

Takes minutes: an empty environment is filled from the package index, with the pinned versions. The
weights are those that ``make weights`` fetched.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from generation.models.registry import load_embedder
from retrieval.embedding.embedder import find_installed_weights
from tests.conftest import ROOT

pytestmark = [pytest.mark.long, pytest.mark.model, pytest.mark.timeout(1800)]

MODEL = "qwen2.5-coder-0.5b-instruct"
QUESTION = "How many customers are there?"
# The documented commands: what builds the wheels, and what fills an environment with both or one.
GUIDE = ROOT / "docs" / "how-to" / "install.md"
SECTION = re.compile(r"^## From wheels$(.*?)^## ", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(
    *command: str | Path, cwd: Path, home: Path | None = None, constraint: Path | None = None
) -> str:
    """Output of a command that knows nothing of this checkout; pip keeps to the constraints."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "QUORUMSQL_", "VIRTUAL_ENV"))
    }
    if home is not None:
        # Without wider instructions than these, `auto` is the small model.
        environment |= {"HOME": str(home), "ONEDNN_MAX_CPU_ISA": "AVX2"}
    if constraint is not None:
        environment["PIP_CONSTRAINT"] = str(constraint)
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder that is not the checkout; its path is short, for PostgreSQL's socket."""
    path = Path(tempfile.mkdtemp(prefix="wheel-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def documented() -> list[list[str]]:
    """The commands of each block of the guide."""
    (section,) = SECTION.findall(GUIDE.read_text())
    return [block.splitlines() for block in BLOCK.findall(section)]


@pytest.fixture(scope="module")
def source(folder: Path) -> Path:
    """The files that git knows."""
    source = folder / "source"
    listed = subprocess.run(
        ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, source / name)
    return source


@pytest.fixture(scope="module")
def wheels(folder: Path, source: Path, documented: list[list[str]]) -> Path:
    """The folder with both wheels."""
    for command in documented[0]:
        run("sh", "-c", command, cwd=source)
    return Path(shutil.move(source / "wheels", folder))


@pytest.fixture(scope="module")
def bin_folder(folder: Path, wheels: Path, documented: list[list[str]]) -> Path:
    """Programs of the environment with everything."""
    *commands, last = documented[1]  # the last one starts a service
    for command in commands:
        run("sh", "-c", command, cwd=folder, constraint=ROOT / "constraints.txt")
    program = folder / last.split()[0]
    assert last.endswith("quorumsql serve --background")
    return program.parent


@pytest.fixture(scope="module")
def home(folder: Path) -> Path:
    """A home whose cache holds the weights already, and nothing else."""
    models = folder / "home" / ".cache" / "quorumsql" / "models"
    models.mkdir(parents=True)
    (models / f"{MODEL}.openvino").symlink_to(ROOT / ".quorumsql" / "models" / f"{MODEL}.openvino")
    entry = load_embedder()
    assert entry.file is not None
    (models / "downloads").mkdir()
    shutil.copyfile(find_installed_weights(), models / "downloads" / entry.file)
    return folder / "home"


def test_the_client_alone_brings_httpx_and_pydantic(
    folder: Path, wheels: Path, documented: list[list[str]]
) -> None:
    for command in documented[-1]:
        run("sh", "-c", command, cwd=folder, constraint=ROOT / "constraints.txt")
    python = folder / "client-venv" / "bin" / "python"
    asked = "import quorumsql; quorumsql.connect('http://127.0.0.1:9').ask('How many?')"
    done = subprocess.run((python, "-c", asked), cwd=folder, capture_output=True, text=True)
    assert "Unavailable: No service answers" in done.stderr
    (packages,) = (folder / "client-venv" / "lib").glob("python3*/site-packages")
    names = {each.name for each in packages.iterdir()}
    assert "quorumsql" in names
    assert not names & {"nl2sql", "serve_app", "data", "evaluation", "numpy", "ray", "starlette"}


def test_a_question_is_answered_in_an_empty_folder(
    folder: Path, bin_folder: Path, home: Path
) -> None:
    empty = folder / "empty"
    empty.mkdir()
    program = bin_folder / "quorumsql"
    answer = run(program, "ask", "--in-process", "--k", "2", QUESTION, cwd=empty, home=home)
    assert "No quorumsql.yaml here: the demo's settings" in answer
    assert "SELECT" in answer
    assert not list(empty.iterdir())

    # What runs beside this test may have the ports, so that doctor's own verdict is left aside.
    checks = subprocess.run(
        (program, "doctor"),
        cwd=empty,
        env={"HOME": str(home), "PATH": os.environ["PATH"], "ONEDNN_MAX_CPU_ISA": "AVX2"},
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    for each in ("weights", "embedder", "database of demo_erp", "index of demo_erp"):
        assert f"✓ {each}:" in checks, checks
    assert "Traceback" not in checks

"""What a user installs: sdist and wheel of this tree, used far away from it.

Takes minutes: an empty environment is filled from the package index, with the pinned versions. The
weights are those that ``make weights`` fetched.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from generation.models.registry import load_embedders
from retrieval.embedding.embedder import find_installed_weights
from tests.conftest import ROOT

pytestmark = [pytest.mark.long, pytest.mark.model, pytest.mark.timeout(1800)]

MODEL = "qwen2.5-coder-0.5b-instruct"
QUESTION = "How many customers are there?"
# What the light install must not bring.
HEAVY = ("torch", "triton", "nvidia", "vllm", "transformers", "numba", "cv2")


def run(*command: str | Path, cwd: Path, home: Path | None = None) -> str:
    """Output of a command that knows nothing of this checkout."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "QUORUMSQL_", "VIRTUAL_ENV"))
    }
    if home is not None:
        environment["HOME"] = str(home)
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
def sdist(folder: Path) -> Path:
    """The sdist of the files that git knows."""
    source = folder / "source"
    listed = subprocess.run(
        ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, source / name)
    build = "import setuptools.build_meta as backend; backend.build_sdist('../built')"
    run(sys.executable, "-c", build, cwd=source)
    (built,) = (folder / "built").glob("*.tar.gz")
    return built


@pytest.fixture(scope="module")
def wheel(folder: Path, sdist: Path) -> Path:
    """The wheel out of the sdist."""
    run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", folder, sdist),
        cwd=folder,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def client_wheel(folder: Path, sdist: Path) -> Path:
    """The client's own wheel."""
    run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", folder / "client", folder / "source" / "client"),
        cwd=folder,
    )
    (built,) = (folder / "client").glob("*.whl")
    return built


@pytest.fixture(scope="module")
def bin_folder(folder: Path, wheel: Path, client_wheel: Path) -> Path:
    """Programs of an environment that holds the wheel and what it asks for."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / "bin" / "python"
    run(
        *(python, "-m", "pip", "install", "--quiet", wheel, client_wheel),
        *("--constraint", ROOT / "constraints.txt"),
        cwd=folder,
    )
    return python.parent


@pytest.fixture(scope="module")
def home(folder: Path) -> Path:
    """A home whose cache holds the weights already, and nothing else."""
    models = folder / "home" / ".cache" / "quorumsql" / "models"
    models.mkdir(parents=True)
    (models / f"{MODEL}.gguf").symlink_to(ROOT / ".quorumsql" / "models" / f"{MODEL}.gguf")
    (entry,) = load_embedders().values()
    assert entry.file is not None
    (models / "downloads").mkdir()
    shutil.copyfile(find_installed_weights(), models / "downloads" / entry.file)
    return folder / "home"


def list_members(archive: Path) -> set[str]:
    """Files in a wheel or sdist, without the folder that an sdist puts them into."""
    if archive.suffix == ".whl":
        return {name for name in zipfile.ZipFile(archive).namelist() if ".dist-info/" not in name}
    with tarfile.open(archive) as tar:
        return {member.name.partition("/")[2] for member in tar if member.isfile()}


def test_the_wheel_out_of_the_sdist_is_that_of_the_tree(
    folder: Path, sdist: Path, wheel: Path
) -> None:
    direct = folder / "direct"
    run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"),
        *("--wheel-dir", direct, folder / "source"),
        cwd=folder,
    )
    (built,) = direct.glob("*.whl")
    members = list_members(wheel)
    assert members == list_members(built)
    assert members <= list_members(sdist)
    assert {"data/demo_erp/quorumsql.yaml", "retrieval/embedding/minilm_tokenizer.json"} <= members
    assert not {name for name in members if name.startswith("tests")}


def test_it_brings_nothing_heavy(folder: Path, bin_folder: Path) -> None:
    (packages,) = (folder / "venv" / "lib").glob("python3*/site-packages")
    assert not [each.name for each in packages.iterdir() if each.name.startswith(HEAVY)]


def test_the_client_alone_brings_httpx_and_pydantic(folder: Path, client_wheel: Path) -> None:
    venv.create(folder / "client-venv", with_pip=True)
    python = folder / "client-venv" / "bin" / "python"
    run(
        *(python, "-m", "pip", "install", "--quiet", client_wheel),
        *("--constraint", ROOT / "constraints.txt"),
        cwd=folder,
    )
    asked = "import quorumsql; quorumsql.connect('http://127.0.0.1:9').ask('How many?')"
    done = subprocess.run((python, "-c", asked), cwd=folder, capture_output=True, text=True)
    assert "Unavailable: No service answers" in done.stderr
    (packages,) = (folder / "client-venv" / "lib").glob("python3*/site-packages")
    names = {each.name for each in packages.iterdir()}
    assert "quorumsql" in names
    assert not names & {"nl2sql", "serve_app", "data", "evaluation", "numpy", "ray", "starlette"}


def test_help_takes_less_than_half_a_second_of_processor_time(
    folder: Path, bin_folder: Path
) -> None:
    seconds = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert "Ask a question" in run(bin_folder / "quorumsql", "--help", cwd=folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    print(f"--help: {min(seconds):.2f} s of processor time")
    assert min(seconds) < 0.4


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
        cwd=empty, env={"HOME": str(home), "PATH": os.environ["PATH"]},
        capture_output=True, text=True, check=False,
    ).stdout  # fmt: skip
    for each in ("llama.cpp", "weights", "embedder", "database demo_erp", "schema of demo_erp"):
        assert f"✓ {each}:" in checks, checks
    assert "Traceback" not in checks

"""Judges a mutant in a process of its own, which imports it in the place of the original."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from importlib.resources.abc import TraversableResources
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import pytest

from tests.mutation.children import OutOfTime
from tests.mutation.mutant import ROOT, Edit, Mutant
from tests.mutation.targets import name_module


def judge_afresh(mutant: Mutant, names: Sequence[str], limit_s: float) -> dict[str, Any]:
    """Runs the tests ``names`` in their order; ``by`` is the first that fails. Raises OutOfTime."""
    folder = Path(tempfile.mkdtemp(prefix="mutant-"))
    order = folder / "order.json"
    result = folder / "result.json"
    order.write_text(json.dumps({"mutant": asdict(mutant), "names": list(names)}))
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.mutation.fresh", str(order), str(result)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        process.wait(limit_s)
        # A process that dies has noticed something.
        found: dict[str, Any] = (
            json.loads(result.read_text()) if result.exists() else {"by": "import", "ran": 0}
        )
        return found
    except subprocess.TimeoutExpired as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise OutOfTime from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads the mutant's text, or the data of a package with the mutant in it."""

    def __init__(self, name: str, path: str, mutant: Mutant) -> None:
        super().__init__(name, path)
        self._mutant = mutant

    def get_code(self, fullname: str) -> CodeType:
        source = Path(self.path).read_bytes()
        if self.path == str(ROOT / self._mutant.path):
            source = self._mutant.apply(source)
        return compile(source, self.path, "exec", dont_inherit=True)

    def get_resource_reader(self, name: str | None = None) -> Any:
        copy = Path(tempfile.mkdtemp()) / "data"
        shutil.copytree(Path(self.path).parent, copy)
        if self._mutant.path.endswith(".yaml"):
            file = copy / Path(self._mutant.path).name
            file.write_bytes(self._mutant.apply(file.read_bytes()))
        return _Reader(copy)


class _Reader(TraversableResources):
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def files(self) -> Path:
        return self._folder


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        path = ROOT / mutant.path
        self._path = path if path.suffix == ".py" else path.parent / "__init__.py"
        self._name = name_module(str(self._path.relative_to(ROOT)))
        self._mutant = mutant

    def find_spec(
        self, name: str, path: object = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name != self._name:
            return None
        is_package = self._path.name == "__init__.py"
        return importlib.util.spec_from_file_location(
            name,
            self._path,
            loader=_Loader(name, str(self._path), self._mutant),
            submodule_search_locations=[str(self._path.parent)] if is_package else None,
        )


class _Selection:
    """Keeps the wanted tests, in the wanted order, and notes the first that fails."""

    def __init__(self, names: Sequence[str]) -> None:
        self._ranks = {name: rank for rank, name in enumerate(names)}
        self.by = ""
        self.ran = 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        wanted = [item for item in items if item.nodeid in self._ranks]
        items[:] = sorted(wanted, key=lambda item: self._ranks[item.nodeid])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.by = self.by or f"collection: {report.nodeid}"

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.ran += report.when == "setup"
        if report.failed:
            self.by = self.by or report.nodeid


def main(order: str, result: str) -> None:
    """Runs the tests of the file ``order`` and writes the outcome to the file ``result``."""
    wanted = json.loads(Path(order).read_text())
    value = wanted["mutant"]
    edits = tuple(Edit(**edit) for edit in value["edits"])
    mutant = Mutant(value["path"], value["line"], value["kind"], edits, value["name"])
    sys.meta_path.insert(0, _Finder(mutant))
    selection = _Selection(wanted["names"])
    files = list(dict.fromkeys(name.partition("::")[0] for name in wanted["names"]))
    try:
        status = pytest.main([*files, *PYTEST_OPTIONS, "-x"], plugins=[selection])
        by = selection.by or ("" if status == pytest.ExitCode.OK else f"pytest: {status}")
    except BaseException as error:
        by = f"import: {type(error).__name__}"
    Path(result).write_text(json.dumps({"by": by, "ran": selection.ran}))


# A test that takes a minute hangs. Nothing is kept from run to run, and nobody reads why a test
# fails: to show that takes longer than most tests.
_OPTIONS = "-p no:cacheprovider -q -o timeout=60 --tb=native --assert=plain"
# Long tests too: they judge what the quick ones let live.
PYTEST_OPTIONS = (*_OPTIONS.split(" "), "-m", "")


if __name__ == "__main__":
    main(*sys.argv[1:])
    sys.stdout.flush()
    # Threads of a connection that a mutant left open are not waited for.
    os._exit(0)

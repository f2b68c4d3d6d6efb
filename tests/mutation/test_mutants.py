"""The mutants of a text, and the known repairs that must fit the code."""

from __future__ import annotations

import pytest

from tests.mutation.allowlist_mutants import list_allowlist_mutants
from tests.mutation.mutant import ROOT
from tests.mutation.python_mutants import list_python_mutants
from tests.mutation.targets import list_targets
from tests.mutation.undone_repairs import Repair, load_repairs, undo_repair


def list_texts(source: str) -> set[str]:
    mutants = list_python_mutants("a.py", source.encode())
    return {mutant.apply(source.encode()).decode() for mutant in mutants}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", {"x = (a <= b)"}),
        ("x = not a", {"x = (a)"}),
        ("x = a and b", {"x = (a or b)", "x = (b)", "x = (a)"}),
        ("x = {1: a}", {"x = {2: a}"}),
        ("x = {a, b}", {"x = ({b})", "x = ({a})"}),
        ("x = 'a b'.split()", {"x = 'b'.split()", "x = 'a'.split()", "x = 'a b~'.split()"}),
        ("x = [a for a in b if c]", {"x = ([a for a in b])"}),
        ("x = isinstance(a, B | C)", {"x = isinstance(a, (B))", "x = isinstance(a, (C))"}),
        ("x = a.lower()", {"x = (a)"}),
        ("x = f(a=b)", {"x = (f())"}),
        ("def f():\n    g()", {"def f():\n    pass"}),
        ("def f():\n    return a", {"def f():\n    return None"}),
        (
            "def f():\n    if a:\n        return b",
            {
                "def f():\n    if (not (a)):\n        return b",
                "def f():\n    if a:\n        return None",
                "def f():\n    if a:\n        pass",
            },
        ),
        ("x = 'ä' < b", {"x = ('ä' <= b)", "x = 'ä~' < b"}),
    ],
)
def test_each_fault_of_a_text(source: str, expected: set[str]) -> None:
    assert list_texts(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring."""',
        "import a",
        "def f(a: int) -> str: ...",
        "@cache(maxsize=1)\ndef f(): ...",
        "def f():\n    assert a is not None",
        "x = f'{a + b}'",
        "x = Violation(a, b, 'It holds nothing.')",
        "if TYPE_CHECKING:\n    x = 1",
    ],
)
def test_what_cannot_matter_is_left_alone(source: str) -> None:
    assert not list_texts(source)


def test_an_allowlist_loses_each_entry_and_gains_harmful_ones() -> None:
    source = b"nodes:\n  - Alias # why\n  - Insert\ntypes:\n  - text\n"
    mutants = list_allowlist_mutants("x/tree.yaml", source)
    texts = [mutant.apply(source).decode() for mutant in mutants]
    assert "nodes:\n  - Insert\ntypes:\n  - text\n" in texts
    assert "nodes:\n  - Delete\n  - Alias # why\n  - Insert\ntypes:\n  - text\n" in texts
    # What is there already is not added.
    assert not [text for text in texts if text.count("  - Insert\n") > 1]
    assert sum(mutant.kind == "entry dropped" for mutant in mutants) == 3


@pytest.mark.parametrize("path", [path for path in list_targets() if path.endswith(".py")])
def test_every_mutant_can_be_compiled_and_no_two_are_one(path: str) -> None:
    source = (ROOT / path).read_bytes()
    mutants = list_python_mutants(path, source)
    for mutant in mutants:
        compile(mutant.apply(source), path, "exec", dont_inherit=True)
    assert len({mutant.key for mutant in mutants}) == len(mutants)


@pytest.mark.quick
@pytest.mark.parametrize(
    "repair", load_repairs(), ids=lambda repair: f"{repair.path}-{repair.name}"
)
def test_a_known_repair_fits_the_code(repair: Repair) -> None:
    source = (ROOT / repair.path).read_bytes()
    undone = undo_repair(repair).apply(source)
    assert undone != source
    compile(undone, repair.path, "exec", dont_inherit=True)

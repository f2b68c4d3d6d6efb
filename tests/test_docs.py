"""The pages: what they link to is there, what is generated is up to date, the index lists all."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup

from serve_app.cli.app import load_command
from serve_app.cli.reference import FOLDER, render_pages
from tests.conftest import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS.rglob("*.md")]
)
# What begins with one of them and stands in backticks is a path in the repository.
STAGES = "retrieval generation ranking repair execution".split()
FOLDERS = ["client", "nl2sql", *STAGES, *"evaluation serve_app deploy data docs tests .ci".split()]
SOURCES = [
    path
    for folder in FOLDERS
    if folder != "docs"
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".yaml", ".yml", ".md", ".txt", ".sql"}
]

each_page = pytest.mark.parametrize(
    "page", [pytest.param(page, id=str(page.relative_to(ROOT))) for page in PAGES]
)


def drop_code_blocks(text: str) -> str:
    return re.sub(r"^(`{3,}).*?^\1$", "", text, flags=re.MULTILINE | re.DOTALL)


def find_anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = drop_code_blocks(page.read_text(encoding="utf-8"))
    anchors: set[str] = set()
    for heading in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = sum(known == anchor or known == f"{anchor}-1" for known in anchors)
        anchors.add(f"{anchor}-{number}" if number else anchor)
    return anchors


def find_links(page: Path) -> Iterator[tuple[str, str]]:
    """(path, anchor) of the relative links; the path is empty for a link within the page."""
    text = drop_code_blocks(page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield path, anchor


def find_paths(page: Path) -> Iterator[str]:
    """Paths in backticks that begin with a folder of the repository, as patterns."""
    text = drop_code_blocks(page.read_text(encoding="utf-8"))
    for code in re.findall(r"(?<!`)`([^`\s]+)`", text):
        folder, _, rest = code.partition("/")
        if folder in FOLDERS and rest and re.fullmatch(r"[\w./*{},:-]+", rest):
            # tests name a test behind `::`; RULE stands for any name.
            yield re.sub(r"\b[A-Z]{2,}\b(?=\.\w+$)", "*", code.partition("::")[0])


@each_page
def test_links_lead_to_files_and_headings(page: Path) -> None:
    broken = []
    for path, anchor in find_links(page):
        target = (page.parent / path).resolve() if path else page
        is_there = target.exists()
        if is_there and anchor and target.suffix == ".md":
            is_there = anchor in find_anchors(target)
        if not is_there:
            broken.append(f"{path}#{anchor}")
    assert broken == []


@each_page
def test_paths_in_backticks_are_files(page: Path) -> None:
    assert [path for path in find_paths(page) if not list(ROOT.glob(path.rstrip("/")))] == []


def test_the_checks_find_links_and_paths() -> None:
    assert ("docs/tutorial.md", "") in set(find_links(ROOT / "README.md"))
    assert "retrieval/search/" in set(find_paths(DOCS / "explanation" / "retrieval.md"))
    assert "how-to-guides" in find_anchors(DOCS / "README.md")


def test_figures_of_accuracy_in_the_readme_are_those_of_the_measurements() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    figures = set(
        re.findall(r"\d+\.\d", readme.partition("\n## How good\n")[2].partition("\n## ")[0])
    )
    measured = set(re.findall(r"\d+\.\d", (DOCS / "measurements.md").read_text(encoding="utf-8")))
    assert len(figures) > 3
    assert sorted(figures - measured) == []


def test_pages_that_the_code_names_are_there() -> None:
    named = {
        (str(path.relative_to(ROOT)), page)
        for path in SOURCES
        for page in re.findall(r"(?<![\w/])docs/[\w./-]+\.md", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 10
    assert sorted(each for each in named if not (ROOT / each[1]).exists()) == []


@pytest.mark.parametrize("name", sorted(render_pages()))
def test_generated_pages_are_up_to_date(name: str) -> None:
    """Stale? ``python -m serve_app.cli.reference`` writes them."""
    assert (FOLDER / name).read_text(encoding="utf-8") == render_pages()[name]


@pytest.mark.parametrize("name", ["settings.md", "command-line.md"])
def test_every_setting_and_option_has_a_meaning(name: str) -> None:
    items = re.findall(r"^- .*$", render_pages()[name], flags=re.MULTILINE)
    assert len(items) > 100
    assert [item for item in items if not re.match(r"- `[^`]+`( \(.+?\))?: \S", item)] == []


def list_texts() -> set[str]:
    """The texts in the code, with … where a value is put in."""
    texts: set[str] = set()
    for path in SOURCES:
        if path.suffix != ".py" or path.is_relative_to(ROOT / "tests"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.JoinedStr):
                parts = [
                    value.value if isinstance(value, ast.Constant) else "…" for value in node.values
                ]
                texts.add("".join(map(str, parts)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
    return texts


def test_messages_in_troubleshooting_are_those_of_the_code() -> None:
    page = (DOCS / "troubleshooting.md").read_text(encoding="utf-8")
    # What stands before the colon of a list's item; colons inside of backticks belong to a message.
    heads = re.findall(r"^- ((?:`[^`]+`|[^`:])+):", page, flags=re.MULTILINE)
    messages = [code for head in heads for code in re.findall(r"`([^`]+)`", head) if " " in code]
    assert len(messages) > 40
    texts = list_texts()

    def is_said(message: str) -> bool:
        # A full stop at the end may be added where the message is printed.
        pieces = [piece.strip() for piece in message.rstrip(".").split("…")]
        pattern = re.compile(".*".join(re.escape(piece) for piece in pieces if piece), re.DOTALL)
        return any(pattern.search(text) for text in texts)

    assert [message for message in messages if not is_said(message)] == []


def test_the_index_lists_every_page() -> None:
    index = DOCS / "README.md"
    listed = {(index.parent / path).resolve() for path, _ in find_links(index) if path}
    assert [page for page in DOCS.rglob("*.md") if page not in listed | {index}] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 150


def find_commands(page: Path) -> Iterator[list[str]]:
    """The arguments of each call of the command line in a page's shell blocks."""
    for block in re.findall(r"```sh\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            words = line.partition("#")[0].replace("'", " ").replace('"', " ").split()
            names = [at for at, word in enumerate(words) if word.split("/")[-1] == "quorumsql"]
            if names and "kubectl" not in line and words[0] not in ("pip", "docker"):
                yield words[names[0] + 1 :]


@each_page
def test_commands_in_shell_blocks_exist(page: Path) -> None:
    for words in find_commands(page):
        if words[:1] == ["--config"]:
            words = words[2:]
        if words[0].startswith("-"):
            continue
        command: Any = load_command(words[0])
        for word in words[1:]:
            if isinstance(command, TyperGroup):
                command = command.commands[word]
            elif word.startswith("--"):
                options = {each for part in command.params for each in part.opts}
                options |= {each for part in command.params for each in part.secondary_opts}
                assert word.partition("=")[0] in options | {"--help"}, words
        assert not isinstance(command, TyperGroup), words

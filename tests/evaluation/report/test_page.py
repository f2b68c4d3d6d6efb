"""The page: whole in itself, and safe whatever questions and models wrote."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from evaluation.metrics.pairing import compare_runs
from evaluation.report import render_page
from evaluation.report.run import Run
from tests.evaluation.builders import build_record
from tests.evaluation.report.builders import HOSTILE, build_rich_records, build_run


class Page(HTMLParser):
    """Elements with their attributes, the texts of scripts, and all other text."""

    VOID = frozenset({"meta", "link", "input", "br", "img"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self.text = ""
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif "style" not in self.open:
            self.text += data

    def values(self, name: str) -> list[str]:
        return [value for _, attributes in self.elements if (value := attributes.get(name))]

    @property
    def data(self) -> Any:
        return json.loads(self.scripts[0])


def render(*runs: Run) -> Page:
    first = runs[0]
    comparisons = [
        compare_runs(first.name, first.records, run.name, run.records) for run in runs[1:]
    ]
    return Page(render_page(runs, comparisons))


@pytest.fixture(scope="module")
def hostile() -> Page:
    shared = {"benchmark": HOSTILE, "machine": {HOSTILE: HOSTILE}, "revision": HOSTILE}
    return render(
        build_run("K=1", *build_rich_records(1, text=HOSTILE), name=HOSTILE, **shared),
        build_run(HOSTILE, *build_rich_records(4, right=2, text=HOSTILE), **shared),
        build_run(
            f"without {HOSTILE}",
            *build_rich_records(4, right=4, text=HOSTILE),
            build_record("bad", gold_error=HOSTILE),
            configuration={HOSTILE: HOSTILE},
            **shared,
        ),
    )


def test_no_element_or_handler_comes_from_what_was_written(hostile: Page) -> None:
    tags = [tag for tag, _ in hostile.elements]
    assert "img" not in tags
    assert tags.count("script") == 2
    assert not [
        key for _, attributes in hostile.elements for key in attributes if key.startswith("on")
    ]
    assert hostile.open == []


def test_what_was_written_is_there_as_text(hostile: Page) -> None:
    assert hostile.text.count(HOSTILE) > 10
    assert any(HOSTILE in text for text in hostile.data["texts"])
    assert any(HOSTILE in question["question"] for question in hostile.data["questions"])
    assert any(HOSTILE in question["database"] for question in hostile.data["questions"])
    cells = [cell for result in hostile.data["results"] for row in result["rows"] for cell in row]
    assert HOSTILE in cells


def test_nothing_is_fetched(hostile: Page) -> None:
    links = hostile.values("href") + hostile.values("src") + hostile.values("action")
    assert links
    assert all(link.startswith(("#", "data:,")) for link in links)


def test_the_only_script_that_may_run_is_the_one_of_the_page(hostile: Page) -> None:
    digest = base64.b64encode(hashlib.sha256(hostile.scripts[1].encode()).digest()).decode()
    (policy,) = [value for value in hostile.values("content") if "default-src" in value]
    assert "default-src 'none'" in policy
    assert f"script-src 'sha256-{digest}'" in policy


def test_the_script_puts_text_in_as_text(hostile: Page) -> None:
    script = hostile.scripts[1]
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert way not in script


def test_links_inside_the_page_lead_somewhere(hostile: Page) -> None:
    ids = hostile.values("id")
    assert len(ids) == len(set(ids))
    targets = [link for link in hostile.values("href") if re.fullmatch(r"#[^/]+", link)]
    assert {target.removeprefix("#") for target in targets} <= set(ids)


def test_flipped_questions_link_to_the_run_that_was_compared() -> None:
    page = render(
        build_run("K=1", build_record("q 1/2", correct=False)),
        build_run("K=4", build_record("q 1/2")),
    )
    assert "#q/1/q%201/2" in page.values("href")


def test_every_plot_has_a_caption_and_an_alternative_text() -> None:
    page = render(
        build_run("K=1", *build_rich_records(1)), build_run("K=4", *build_rich_records(4))
    )
    tags = [tag for tag, _ in page.elements]
    figures = [attributes for tag, attributes in page.elements if tag == "svg"]
    assert len(figures) == tags.count("figcaption") == tags.count("figure") >= 8
    assert all(figure.get("role") == "img" and figure.get("aria-label") for figure in figures)


def test_key_figures_stand_at_the_top() -> None:
    page = render(
        build_run("plain", build_record(correct=False), baseline="plain"),
        build_run("K=4", build_record()),
    )
    for text in (
        "100.0\N{NO-BREAK SPACE}%",
        "oracle gap",
        "executes",
        "against plain",
        "+100.0 pts",
    ):
        assert text in page.text.partition("Questions and outcomes")[0]


def test_against_the_baseline_only_shared_questions_count() -> None:
    wrong = build_record("q1", correct=False)
    page = render(
        build_run("plain", wrong, build_record("q2"), baseline="plain"),
        build_run("K=4", build_record("q1")),
    )
    assert "+100.0 pts from 0.0" in page.text.replace("\n", " ")


def test_no_speed_is_shown_where_samples_came_from_a_file() -> None:
    page = render(build_run("K=4", *build_rich_records(4), samples="kept.samples"))
    assert "samples were kept in a file" in page.text
    assert not any("seconds" in answer for answer in page.data["answers"])
    assert not any("generate" in answer["stages"] for answer in page.data["answers"])


def test_failures_are_named_with_links() -> None:
    missing = build_record("q7", gold_error="the database is missing: no file")
    page = render(build_run("K=1", missing, build_record("q8")))
    assert "the database is missing: no file" in page.text
    assert "#q/0/q7" in page.values("href")


def test_a_run_in_which_nothing_counts_can_be_shown() -> None:
    page = render(build_run("K=1", build_record(gold_error="timeout")))
    assert "timeout" in page.text


def test_half_a_surrogate_pair_can_be_written() -> None:
    failing = build_record("bad\ud800", gold_error="\ud800")
    run = build_run("K=1", *build_rich_records(1, text="\ud800"), failing, benchmark="\ud800")
    page = Page(render_page([run], []).encode("utf-8").decode("utf-8"))
    # The link and the data agree on what stands in its place.
    assert "#q/0/bad%3F" in page.values("href")
    assert "bad?" in [question["id"] for question in page.data["questions"]]


def test_a_report_needs_a_run() -> None:
    with pytest.raises(ValueError, match="needs a run"):
        render_page([], [])

"""Takes the pictures of README and guide from a running demo: its true answers.

``python -m bench.pictures [--url http://127.0.0.1:8000/] [--question TEXT]`` writes
``docs/figures/page-answer.png`` and ``page-candidates.png``. Needs Chromium, as the tests of the
page do.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.serve_app.page.browser import CHROMIUM, Reader, Site

_FIGURES = Path(__file__).parents[1] / "docs" / "figures"
_SIZE = {"width": 1280, "height": 880}


def take_pictures(url: str, question: str) -> None:
    """Asks the question on the page, and writes the pictures of the answer and of its reasons."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport=_SIZE, locale="en-GB")
        reader = Reader(page, Site(url))
        page.set_default_timeout(120_000)
        reader.visit()
        reader.ask(question)
        reader.leave_fields()
        page.screenshot(path=_FIGURES / "page-answer.png")
        reader.press(".answer-foot button:has-text('Why')")
        page.wait_for_timeout(1000)
        page.screenshot(path=_FIGURES / "page-candidates.png")
        browser.close()


def main() -> None:
    """Reads the arguments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", default="http://127.0.0.1:8000/")
    parser.add_argument("--question", default="How many employees work in each department?")
    arguments = parser.parse_args()
    take_pictures(arguments.url, arguments.question)


if __name__ == "__main__":
    main()

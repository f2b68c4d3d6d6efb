"""How quick the page is in Chromium: first paint, bytes, and interaction with 10,000 rows.

``python -m bench.page`` serves the page's files with canned answers on the loopback and
prints the figures of several visits. Needs playwright and Debian's chromium.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

from tests.serve_app.page.browser import CHROMIUM, Served
from tests.serve_app.page.fake_service import FakeService

VISITS = 7

# From the event to the frame after the one that shows its effect.
_MEASURE = """async (act) => {
  const frame = () => new Promise(requestAnimationFrame);
  await frame();
  const start = performance.now();
  acts[act]();
  await frame();
  await frame();
  return performance.now() - start;
}"""
_ACTS = """
window.acts = {
  sort: () => document.querySelectorAll('.result th button')[3].click(),
  scroll: () => { document.querySelector('.scroller').scrollTop += 120000; },
  filter: () => {
    const field = document.querySelector('.filter input');
    field.value = field.value ? '' : 'bj';
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
  },
};
"""


def measure_visit(browser: Any, url: str) -> dict[str, float]:
    """One visit with an empty cache: milliseconds, and kB as they were transferred."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.add_init_script(_ACTS)
    session = context.new_cdp_session(page)
    session.send("Network.enable")
    received: list[int] = []
    session.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    page.goto(url)
    page.wait_for_selector(".suggestions")
    page.wait_for_timeout(1500)
    paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    figures = {"first paint, ms": paint, "transferred, kB": sum(received) / 1000}
    page.fill("#question", "Show all orders")
    page.keyboard.press("Enter")
    page.wait_for_selector(".answer")
    page.wait_for_timeout(300)
    for act in ("scroll", "sort", "filter", "sort", "scroll"):
        key = f"{act} 10,000 rows, ms"
        figures[key] = max(figures.get(key, 0.0), page.evaluate(_MEASURE, act))
    context.close()
    return figures


def main(report: Callable[[str], None] = print) -> None:
    """Prints the median and the highest of each figure."""
    from playwright.sync_api import sync_playwright

    served = Served(FakeService(pause_s=0.0))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        visits = [measure_visit(browser, served.url) for _ in range(VISITS)]
        browser.close()
    served.stop()
    for name in visits[0]:
        values = [visit[name] for visit in visits]
        report(f"{name:28} {statistics.median(values):8.1f}   at most {max(values):8.1f}")


if __name__ == "__main__":
    main()

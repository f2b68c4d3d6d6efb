"""What was found, a line of JSON for each mutant, so that a run can go on where it was ended."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Result:
    """``digest`` is the mutated file's; ``verdict`` killed, hangs or survived; ``by`` the test.

    ``phase`` is the one that ended it: fast (no server) or server.
    """

    key: str
    path: str
    line: int
    change: str
    digest: str
    verdict: str
    phase: str
    by: str = ""
    ran: int = 0
    cpu_s: float = 0.0


def append_result(result: Result, file: Path) -> None:
    """Adds one line."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")


def load_results(file: Path) -> dict[tuple[str, str], Result]:
    """The last result for each mutant and digest of its file."""
    if not file.exists():
        return {}
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        result = Result(**json.loads(line))
        found[result.key, result.digest] = result
    return found


def render_table(results: Iterable[Result]) -> str:
    """A line for each file, and one for all."""
    counts: dict[str, Counter[str]] = {}
    for result in results:
        column = result.phase if result.verdict != "survived" else "survived"
        for name in (result.path, "all"):
            counts.setdefault(name, Counter())[column] += 1
    lines = [
        "| file | mutants | killed without a server | killed with a server | survived | killed |",
        "|---|---|---|---|---|---|",
    ]
    for name in sorted(counts, key=lambda name: (name == "all", name)):
        count = counts[name]
        total = count.total()
        share = (total - count["survived"]) / total
        lines.append(
            f"| `{name}` | {total} | {count['fast']} | {count['server']} | {count['survived']} "
            f"| {share:.1%} |"
        )
    return "\n".join(lines)


def render_survivors(results: Iterable[Result]) -> str:
    """Each survivor, with its change."""
    survivors = [result for result in results if result.verdict == "survived"]
    return "\n".join(
        f"{result.key}\n    {result.change}    ({result.ran} tests)"
        for result in sorted(survivors, key=lambda result: (result.path, result.line))
    )

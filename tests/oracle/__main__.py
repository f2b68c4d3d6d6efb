"""``python -m tests.oracle``: the oracle in full, and the fuzzers for as long as wanted.

    python -m tests.oracle corpus                          the demo ERP, every query as everybody
    python -m tests.oracle fuzz --minutes 60               random statements, made from the corpus
    python -m tests.oracle fuzz --database sqlite          the same on SQLite, or on duckdb
    python -m tests.oracle meaning --statements 100000     what runs means what was written

Prints a table of verdicts, what was refused though harmless, and every mismatch whole. The exit
status is 1 when there was a mismatch or trouble of another kind.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from execution.postgres.embedded import EmbeddedServer
from tests.attacks.attack import ENGINES as DATABASES
from tests.oracle import demo
from tests.oracle.fuzz import FuzzReport
from tests.oracle.meaning import judge_meaning
from tests.oracle.postgres_copies import quieten
from tests.oracle.postgres_fuzz import PostgresFuzzer, aim_mutations
from tests.oracle.shop import fuzz_shop
from tests.oracle.tally import Tally, judge_corpus

Report = tuple[str, bool]
"""What a run came to, and whether it found anything wrong."""


def main(arguments: list[str] | None = None) -> int:
    """Runs the command of the arguments; gives the exit status."""
    options = _build_parser().parse_args(arguments)
    command = {
        "corpus": _run_corpus,
        "fuzz": _run_fuzz,
        "meaning": _run_meaning,
    }[options.command]
    text, is_wrong = command(options, random.Random(options.seed))
    print(text)
    return int(is_wrong)


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True)
    corpus = commands.add_parser("corpus", help="golds, their changes, queries made for tables")
    corpus.add_argument("--most", type=int, help="queries for each principal")
    fuzz = commands.add_parser("fuzz", help="random statements")
    fuzz.add_argument("--minutes", type=float, default=60.0)
    meaning = commands.add_parser("meaning", help="what original and rewritten text give")
    meaning.add_argument("--statements", type=int, default=50_000)
    for command in (fuzz, meaning):
        command.add_argument("--database", choices=DATABASES, default="postgres")
    for command in (corpus, fuzz, meaning):
        command.add_argument("--seed", type=int, default=0)
    return parser


def _run_corpus(options: argparse.Namespace, rng: random.Random) -> Report:
    def tell(name: str, tally: Tally) -> None:
        _tell(f"{name}: {tally.total:,} judged, {len(tally.mismatches)} mismatches")

    with _open_server() as server, closing(demo.open_demo(server)) as stage:
        tally = judge_corpus(stage, demo.PRINCIPALS, rng, most=options.most, progress=tell)
    return tally.render(), bool(tally.mismatches)


def _run_fuzz(options: argparse.Namespace, rng: random.Random) -> Report:
    told: list[str] = []

    def tell(report: FuzzReport) -> None:
        for text in report.troubles[len(told) :]:
            told.append(text)
            _tell(f"[statement {report.statements:,}] {text}")

    seconds = options.minutes * 60
    if options.database != "postgres":
        with tempfile.TemporaryDirectory() as folder:
            report = fuzz_shop(options.database, Path(folder), rng, seconds=seconds, progress=tell)
    else:
        with (
            _open_server() as server,
            closing(demo.open_demo(server)) as stage,
            closing(PostgresFuzzer(server, stage, demo.PRINCIPALS)) as fuzzer,
        ):
            report = fuzzer.run(aim_mutations(fuzzer, rng), seconds=seconds, progress=tell)
    return report.render(), bool(report.troubles)


def _run_meaning(options: argparse.Namespace, rng: random.Random) -> Report:
    with _open_server() as server:
        tally = judge_meaning(options.database, rng, statements=options.statements, server=server)
    return tally.render(), bool(tally.differences)


@contextmanager
def _open_server() -> Iterator[EmbeddedServer]:
    # A short path: a UNIX socket's has at most 107 characters.
    home = Path(tempfile.mkdtemp(prefix="oracle-"))
    server = EmbeddedServer(home / "postgres")
    server.start()
    try:
        quieten(server)
        yield server
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)


def _tell(text: str) -> None:
    print(text, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())

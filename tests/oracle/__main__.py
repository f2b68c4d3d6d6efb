"""``python -m tests.oracle``: the oracle in full, and the fuzzers for as long as wanted.

    python -m tests.oracle corpus                          the demo ERP, every query as everybody
    python -m tests.oracle corpus --of spider_pg --most 40 40 queries a schema (QUORUMSQL_BENCH)
    python -m tests.oracle generated --examples 5000       queries that hypothesis makes up
    python -m tests.oracle fuzz --minutes 60               random statements, made from the corpus
    python -m tests.oracle fuzz --engine grammar           made by a grammar (see grammar/)
    python -m tests.oracle fuzz --engine seeds             made from the seeds (see seeds/)
    python -m tests.oracle fuzz --database sqlite          the grammar on SQLite, or on duckdb
    python -m tests.oracle metamorphic --pairs 20000       hidden rows changed, the demo ERP
    python -m tests.oracle metamorphic --of warehouse --database duckdb
    python -m tests.oracle coverage                        writes docs/reference/grammar-coverage.md

Prints a table of verdicts, what was refused though harmless, and every mismatch whole. The exit
status is 1 when there was a mismatch or trouble of another kind.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from execution.postgres.embedded import EmbeddedServer
from nl2sql.types import Principal
from tests.oracle import benchmarks, demo, generated_policies
from tests.oracle.coverage.run import write_page
from tests.oracle.engines import ENGINES
from tests.oracle.fuzz import FuzzReport
from tests.oracle.metamorphic import warehouse
from tests.oracle.metamorphic.file_pairs import FilePairs
from tests.oracle.metamorphic.postgres_pairs import PostgresPairs
from tests.oracle.metamorphic.verdicts import PairTally
from tests.oracle.metamorphic.warehouse import open_warehouse
from tests.oracle.postgres_copies import quiet_server
from tests.oracle.postgres_fuzz import PostgresFuzzer, aim_engine
from tests.oracle.progress import PairProgress, Progress, TroubleTeller
from tests.oracle.runs import judge_generated, judge_spider, judge_subjects
from tests.oracle.shop import fuzz_shop
from tests.oracle.stage import PostgresStage
from tests.oracle.tally import Tally
from tests.oracle.verdicts import Kind

_SUBJECTS = ("demo_erp", *benchmarks.NAMES, "spider")
_ENGINES = ("postgres", "sqlite", "duckdb")


def main(arguments: list[str] | None = None) -> int:
    """The exit status."""
    options = _build_parser().parse_args(arguments)
    rng = random.Random(options.seed)
    if options.command == "metamorphic" and options.database != "postgres":
        return _run_files(options, rng)
    if options.command == "corpus" and options.of == "spider":
        tally = judge_spider(
            _find_bench() / "spider",
            rng,
            most=options.most,
            databases=options.databases,
            progress=Progress(),
        )
        return _tell(tally)
    if options.command == "fuzz" and options.database != "postgres":
        return _run_shop(options, rng)
    # A short path: a UNIX socket's has at most 107 characters.
    home = Path(tempfile.mkdtemp(prefix="oracle-"))
    server = EmbeddedServer(home / "postgres")
    server.start()
    try:
        with quiet_server(server):
            return _COMMANDS[options.command](server, options, rng)
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True)
    corpus = commands.add_parser("corpus", help="golds, their changes, queries made for tables")
    corpus.add_argument("--of", choices=_SUBJECTS, default="demo_erp")
    corpus.add_argument("--most", type=int, help="queries for each database and principal")
    corpus.add_argument("--databases", type=int, help="how many databases (spider)")
    generated = commands.add_parser("generated", help="queries that hypothesis makes up")
    generated.add_argument("--examples", type=int, default=1000, help="for each principal")
    fuzz = commands.add_parser("fuzz", help="random statements")
    fuzz.add_argument("--minutes", type=float, default=60.0)
    metamorphic = commands.add_parser("metamorphic", help="what is hidden changes, nothing else")
    metamorphic.add_argument("--pairs", type=int, default=20_000)
    metamorphic.add_argument("--database", choices=_ENGINES, default="postgres")
    metamorphic.add_argument(
        "--of", choices=("demo_erp", "warehouse", *benchmarks.NAMES), default="demo_erp"
    )
    fuzz.add_argument("--engine", choices=("corpus", *ENGINES), default="corpus")
    fuzz.add_argument("--database", choices=("postgres", "sqlite", "duckdb"), default="postgres")
    fuzz.add_argument("--principals", help="their names, with commas between them")
    coverage = commands.add_parser("coverage", help="which constructs the generators produce")
    coverage.add_argument("--statements", type=int, default=20_000, help="of each generator")
    for command in (corpus, generated, fuzz, metamorphic, coverage):
        command.add_argument("--seed", type=int, default=0)
    return parser


def _run_corpus(server: EmbeddedServer, options: argparse.Namespace, rng: random.Random) -> int:
    principals: Sequence[Principal] = generated_policies.PRINCIPALS
    if options.of == "demo_erp":
        stage, principals = demo.open_demo(server), demo.PRINCIPALS
    else:
        stage = benchmarks.open_benchmark(server, _find_bench(), options.of)
    tally = judge_subjects(stage, principals, rng, most=options.most, progress=Progress())
    stage.close()
    return _tell(tally)


def _run_generated(server: EmbeddedServer, options: argparse.Namespace, rng: random.Random) -> int:
    stage = demo.open_demo(server)
    tallies = []
    for principal in demo.PRINCIPALS:
        tallies.append(
            judge_generated(stage, [principal], examples=options.examples, random_seed=options.seed)
        )
        print(tallies[-1].render())
    stage.close()
    return int(any(tally.mismatches for tally in tallies))


def _run_fuzz(server: EmbeddedServer, options: argparse.Namespace, rng: random.Random) -> int:
    stage: PostgresStage = demo.open_demo(server)
    chosen = options.principals.split(",") if options.principals else []
    principals = [who for who in demo.PRINCIPALS if not chosen or who.name in chosen]
    with closing(PostgresFuzzer(server, stage, principals)) as fuzzer:
        aimed = aim_engine(options.engine, fuzzer, principals, rng)
        report = fuzzer.run(aimed, seconds=options.minutes * 60, progress=TroubleTeller())
    stage.close()
    return _tell_report(report)


def _run_metamorphic(
    server: EmbeddedServer, options: argparse.Namespace, rng: random.Random
) -> int:
    principals: Sequence[Principal] = generated_policies.PRINCIPALS
    if options.of == "demo_erp":
        # The analyst sees everything.
        principals = [who for who in demo.PRINCIPALS if who.name != "analyst"]
        stage = demo.open_demo(server)
    elif options.of == "warehouse":
        stage, principals = open_warehouse(server), warehouse.PRINCIPALS
    else:
        stage = benchmarks.open_benchmark(server, _find_bench(), options.of)
    pairs = PostgresPairs(server, stage)
    tally = pairs.judge(principals, rng, pairs=options.pairs, progress=PairProgress())
    pairs.close()
    stage.close()
    return _tell_tally(tally)


def _run_files(options: argparse.Namespace, rng: random.Random) -> int:
    with tempfile.TemporaryDirectory() as folder:
        pairs = FilePairs(Path(folder), options.database)
        tally = pairs.judge(warehouse.PRINCIPALS, rng, pairs=options.pairs, progress=PairProgress())
        pairs.close()
    return _tell_tally(tally)


def _tell_tally(tally: PairTally) -> int:
    print(tally.render())
    return int(bool(tally.leaks))


def _run_shop(options: argparse.Namespace, rng: random.Random) -> int:
    seconds = options.minutes * 60
    with tempfile.TemporaryDirectory() as folder:
        report = fuzz_shop(
            options.database, Path(folder), rng, seconds=seconds, progress=TroubleTeller()
        )
    return _tell_report(report)


def _tell_report(report: FuzzReport) -> int:
    print(report.render())
    return int(bool(report.troubles))


def _run_coverage(server: EmbeddedServer, options: argparse.Namespace, rng: random.Random) -> int:
    stage = demo.open_demo(server)
    coverages = write_page(stage.subjects[0], most=options.statements, seed=options.seed)
    stage.close()
    for coverage in coverages:
        print(f"{coverage.database}: {', '.join(coverage.find_gaps()) or 'no gaps'}")
    return int(any(coverage.find_gaps() for coverage in coverages))


_COMMANDS: dict[str, Callable[[EmbeddedServer, argparse.Namespace, random.Random], int]] = {
    "corpus": _run_corpus,
    "generated": _run_generated,
    "fuzz": _run_fuzz,
    "metamorphic": _run_metamorphic,
    "coverage": _run_coverage,
}


def _find_bench() -> Path:
    folder = os.environ.get("QUORUMSQL_BENCH", "")
    if not folder:
        raise SystemExit("QUORUMSQL_BENCH names no folder of benchmarks.")
    return Path(folder)


def _tell(tally: Tally) -> int:
    print(tally.render())
    return int(tally.count(Kind.MISMATCH) > 0)


if __name__ == "__main__":
    sys.exit(main())

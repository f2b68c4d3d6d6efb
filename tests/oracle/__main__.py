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
    python -m tests.oracle meaning --statements 100000     what runs means what was written
    python -m tests.oracle meaning --database sqlite       by its results, or on duckdb
    python -m tests.oracle coverage                        prints which constructs are produced

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
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from execution.postgres.embedded import EmbeddedServer
from nl2sql.types import Principal
from tests.oracle import benchmarks, demo, generated_policies
from tests.oracle.coverage.run import cover_databases, render_page
from tests.oracle.engines import ENGINES
from tests.oracle.meaning import duckdb, sqlite
from tests.oracle.meaning.postgres import judge_meanings, open_things
from tests.oracle.metamorphic import warehouse
from tests.oracle.metamorphic.file_pairs import FilePairs
from tests.oracle.metamorphic.postgres_pairs import PostgresPairs
from tests.oracle.postgres_copies import quiet_server
from tests.oracle.postgres_fuzz import PostgresFuzzer, aim_engine
from tests.oracle.progress import PairProgress, Progress, TroubleTeller
from tests.oracle.runs import judge_generated, judge_spider, judge_subjects
from tests.oracle.shop import fuzz_shop
from tests.oracle.stage import PostgresStage

_SUBJECTS = ("demo_erp", *benchmarks.NAMES)
_DATABASES = ("postgres", "sqlite", "duckdb")

Report = tuple[str, bool]
"""What a run came to, and whether it found anything wrong."""


def main(arguments: list[str] | None = None) -> int:
    """Runs the command of the arguments; gives the exit status."""
    options = _build_parser().parse_args(arguments)
    rng = random.Random(options.seed)
    is_server = "database" not in options or options.database == "postgres"
    if options.command == "corpus" and options.of == "spider":
        text, is_wrong = _judge_spider(options, rng)
    elif is_server:
        text, is_wrong = _run_on_server(options, rng)
    else:
        text, is_wrong = _FILE_COMMANDS[options.command](options, rng)
    print(text)
    return int(is_wrong)


def _run_on_server(options: argparse.Namespace, rng: random.Random) -> Report:
    # A short path: a UNIX socket's has at most 107 characters.
    home = Path(tempfile.mkdtemp(prefix="oracle-"))
    server = EmbeddedServer(home / "postgres")
    server.start()
    try:
        with quiet_server(server), closing(_open_stage(server, options)) as stage:
            return _COMMANDS[options.command](server, stage, options, rng)
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)


def _open_stage(server: EmbeddedServer, options: argparse.Namespace) -> PostgresStage:
    subject = getattr(options, "of", "demo_erp")
    if subject == "demo_erp":
        return demo.open_demo(server)
    if subject == warehouse.NAME:
        return warehouse.open_warehouse(server)
    return benchmarks.open_benchmark(server, _find_bench(), subject)


def _list_principals(options: argparse.Namespace) -> Sequence[Principal]:
    if options.of == "demo_erp":
        return demo.PRINCIPALS
    return warehouse.PRINCIPALS if options.of == warehouse.NAME else generated_policies.PRINCIPALS


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.oracle", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    commands = parser.add_subparsers(dest="command", required=True)
    corpus = commands.add_parser("corpus", help="golds, their changes, queries made for tables")
    corpus.add_argument("--of", choices=(*_SUBJECTS, "spider"), default="demo_erp")
    corpus.add_argument("--most", type=int, help="queries for each database and principal")
    corpus.add_argument("--databases", type=int, help="how many databases (spider)")
    generated = commands.add_parser("generated", help="queries that hypothesis makes up")
    generated.add_argument("--examples", type=int, default=1000, help="for each principal")
    fuzz = commands.add_parser("fuzz", help="random statements")
    fuzz.add_argument("--minutes", type=float, default=60.0)
    metamorphic = commands.add_parser("metamorphic", help="what is hidden changes, nothing else")
    metamorphic.add_argument("--pairs", type=int, default=20_000)
    metamorphic.add_argument("--of", choices=(*_SUBJECTS, warehouse.NAME), default="demo_erp")
    fuzz.add_argument("--engine", choices=("corpus", *ENGINES), default="corpus")
    fuzz.add_argument("--principals", help="their names, with commas between them")
    meaning = commands.add_parser("meaning", help="what original and rewritten text give")
    meaning.add_argument("--statements", type=int, default=50_000)
    for command in (fuzz, metamorphic, meaning):
        command.add_argument("--database", choices=_DATABASES, default="postgres")
    coverage = commands.add_parser("coverage", help="which constructs the generators produce")
    coverage.add_argument("--statements", type=int, default=20_000, help="of each generator")
    for command in (corpus, generated, fuzz, metamorphic, meaning, coverage):
        command.add_argument("--seed", type=int, default=0)
    return parser


def _run_corpus(
    server: EmbeddedServer, stage: PostgresStage, options: argparse.Namespace, rng: random.Random
) -> Report:
    principals = _list_principals(options)
    tally = judge_subjects(stage, principals, rng, most=options.most, progress=Progress())
    return tally.render(), bool(tally.mismatches)


def _run_generated(
    server: EmbeddedServer, stage: PostgresStage, options: argparse.Namespace, rng: random.Random
) -> Report:
    examples = options.examples * len(demo.PRINCIPALS)
    tally = judge_generated(stage, demo.PRINCIPALS, examples=examples, random_seed=options.seed)
    return tally.render(), bool(tally.mismatches)


def _run_fuzz(
    server: EmbeddedServer, stage: PostgresStage, options: argparse.Namespace, rng: random.Random
) -> Report:
    chosen = options.principals.split(",") if options.principals else []
    principals = [who for who in demo.PRINCIPALS if not chosen or who.name in chosen]
    with closing(PostgresFuzzer(server, stage, principals)) as fuzzer:
        aimed = aim_engine(options.engine, fuzzer, principals, rng)
        report = fuzzer.run(aimed, seconds=options.minutes * 60, progress=TroubleTeller())
    return report.render(), bool(report.troubles)


def _run_metamorphic(
    server: EmbeddedServer, stage: PostgresStage, options: argparse.Namespace, rng: random.Random
) -> Report:
    # The analyst sees everything.
    principals = [who for who in _list_principals(options) if who.name != "analyst"]
    with closing(PostgresPairs(server, stage)) as pairs:
        tally = pairs.judge(principals, rng, pairs=options.pairs, progress=PairProgress())
    return tally.render(), bool(tally.leaks)


def _run_coverage(
    server: EmbeddedServer, stage: PostgresStage, options: argparse.Namespace, rng: random.Random
) -> Report:
    most, seed = options.statements, options.seed
    coverages = cover_databases(stage.subjects[0], most=most, seed=seed)
    page = render_page(coverages, most=most, seed=seed)
    gaps = {coverage.database: ", ".join(coverage.find_gaps()) for coverage in coverages}
    text = "\n".join(f"{database}: {found or 'no gaps'}" for database, found in gaps.items())
    return f"{page}\n{text}", any(gaps.values())


def _run_meaning(
    server: EmbeddedServer, stage: PostgresStage, options: argparse.Namespace, rng: random.Random
) -> Report:
    with open_things(server) as fetch:
        tally = judge_meanings(options.statements, seed=options.seed, fetch=fetch)
    return tally.render(), bool(tally.differences)


def _judge_spider(options: argparse.Namespace, rng: random.Random) -> Report:
    folder = _find_bench() / "spider"
    most, databases = options.most, options.databases
    tally = judge_spider(folder, rng, most=most, databases=databases, progress=Progress())
    return tally.render(), bool(tally.mismatches)


def _fuzz_file(options: argparse.Namespace, rng: random.Random) -> Report:
    seconds, progress = options.minutes * 60, TroubleTeller()
    with tempfile.TemporaryDirectory() as folder:
        report = fuzz_shop(options.database, Path(folder), rng, seconds=seconds, progress=progress)
    return report.render(), bool(report.troubles)


def _change_file(options: argparse.Namespace, rng: random.Random) -> Report:
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(FilePairs(Path(folder), options.database)) as pairs,
    ):
        tally = pairs.judge(warehouse.PRINCIPALS, rng, pairs=options.pairs, progress=PairProgress())
    return tally.render(), bool(tally.leaks)


def _compare_on_file(options: argparse.Namespace, rng: random.Random) -> Report:
    tally = _MEANINGS[options.database].judge_meaning(rng, statements=options.statements)
    return tally.render(), bool(tally.differences)


_MEANINGS = {"sqlite": sqlite, "duckdb": duckdb}
_COMMANDS: Mapping[
    str, Callable[[EmbeddedServer, PostgresStage, argparse.Namespace, random.Random], Report]
] = {
    "corpus": _run_corpus,
    "generated": _run_generated,
    "fuzz": _run_fuzz,
    "metamorphic": _run_metamorphic,
    "coverage": _run_coverage,
    "meaning": _run_meaning,
}
_FILE_COMMANDS = {
    "fuzz": _fuzz_file,
    "metamorphic": _change_file,
    "meaning": _compare_on_file,
}


def _find_bench() -> Path:
    folder = os.environ.get("QUORUMSQL_BENCH", "")
    if not folder:
        raise SystemExit("QUORUMSQL_BENCH names no folder of benchmarks.")
    return Path(folder)


if __name__ == "__main__":
    sys.exit(main())

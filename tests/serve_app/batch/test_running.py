"""Jobs on Ray, with everything real but the model: results, what is repeated, and as whom."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import httpx
import psutil
import pytest
import ray
from prometheus_client.parser import text_string_to_metric_families

from nl2sql.errors import EngineUnavailable, Forbidden, SettingsError
from serve_app.batch.figures import BatchProgress
from serve_app.batch.job import Job
from serve_app.batch.questions import BatchQuestion
from serve_app.batch.results import ResultFormat
from serve_app.batch.running import Sizes, find_cause, run_job
from serve_app.composition.wiring import Wiring
from serve_app.service.metrics import BATCH_QUESTIONS
from tests.conftest import ROOT
from tests.fakes import FakeGenerator, build_candidate, build_generated, build_result
from tests.serve_app.batch.engines import build_broken, build_echo
from tests.serve_app.batch.jobs import build_job, build_questions, read_rows
from tests.serve_app.served import build_app, serve
from tests.waiting import wait_for

SIZES = Sizes(workers=(1, 1), engines=2, questions_at_once=8)
POLICY = ROOT / "data" / "demo_erp" / "policy.yaml"
COUNT = "SELECT count(*) FROM employees"

pytestmark = pytest.mark.usefixtures("cluster")


def run(job: Job, wiring: Wiring, sizes: Sizes = SIZES) -> BatchProgress:
    return run_job(job, wiring, sizes, build_engine=build_echo)


def count_outcomes() -> Counter[str]:
    """The questions that Ray's metrics count as answered by jobs."""
    node = ray.nodes()[0]
    url = f"http://{node['NodeManagerAddress']}:{node['MetricsExportPort']}/metrics"
    counts: Counter[str] = Counter()
    for family in text_string_to_metric_families(httpx.get(url, timeout=30).text):
        for sample in family.samples:
            if sample.name == f"ray_{BATCH_QUESTIONS.name}_total" and sample.labels["by"] == "job":
                counts[sample.labels["outcome"]] += int(sample.value)
    return counts


def test_each_question_has_one_row_whatever_comes_of_it(wiring: Wiring, tmp_path: Path) -> None:
    questions = [
        *build_questions(30),
        BatchQuestion("empty", "  "),
        BatchQuestion("nowhere", "SELECT 1", database="nowhere"),
        BatchQuestion("many", COUNT, k=10_000),
        BatchQuestion("refused", "SELECT pg_sleep(1) FROM employees"),
        BatchQuestion("second", "SELECT 2 FROM tickets", database="second"),
    ]
    job = build_job(tmp_path, *questions, kept_rows=1)
    progress = run(job, wiring, replace(SIZES, workers=(1, 2)))
    assert (progress.done, progress.total) == (35, 35)
    rows = {row["id"]: row for row in read_rows(job)}
    assert rows.keys() == {question.id for question in questions}
    for number, question in enumerate(questions[:30]):
        row = rows[question.id]
        if number % 4 == 3:
            assert (row["outcome"], row["error_class"]) == ("failed", "unknown_table")
            continue
        assert (row["outcome"], row["sql"]) == ("answered", question.question)
        assert json.loads(row["rows"])[0][0] == number
        assert row["index_version"]
        # Eight candidates come from two prompts.
        assert (row["prompt_tokens"], row["row_count"], row["truncated"]) == (2, 1, False)
    for name, error in (
        ("empty", "InvalidRequest"),
        ("nowhere", "UnknownDatabase"),
        ("many", "InvalidRequest"),
    ):
        assert (rows[name]["outcome"], rows[name]["error_class"]) == ("error", error)
        assert rows[name]["reason"]
    assert rows["refused"]["outcome"] == "failed"
    assert rows["second"]["outcome"] == "failed"
    assert wait_for(lambda: count_outcomes() == Counter(row["outcome"] for row in rows.values()))


def test_a_job_goes_on_where_it_was(wiring: Wiring, tmp_path: Path) -> None:
    job = build_job(tmp_path, *build_questions(16), result_format=ResultFormat.JSONL)
    run(job, wiring)
    before = read_rows(job)
    first, *others = job.list_results()
    # As if the job had been killed before it wrote the first file.
    Path(first.path).unlink()
    seen: list[BatchProgress] = []
    run_job(job, wiring, SIZES, build_engine=build_echo, follow=seen.append, interval_s=0.2)
    assert seen[-1].is_complete
    assert read_rows(job) == before
    kept = {info.path: info.mtime_ns for info in others}
    assert {info.path: info.mtime_ns for info in job.list_results()}.items() >= kept.items()

    def never(wiring: Wiring) -> None:
        raise AssertionError("a complete job needs no engine")

    assert run_job(job, wiring, SIZES, build_engine=never).is_complete  # type: ignore[arg-type]


def read_command(process: psutil.Process) -> str:
    """How it was called; empty once it has ended."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


@pytest.mark.long
def test_a_job_survives_the_death_of_a_worker_and_of_an_engine(
    wiring: Wiring, tmp_path: Path
) -> None:
    job = build_job(tmp_path, *build_questions(200), block_rows=4)
    victims = ["ray::MapWorker", "ray::BatchEngine"]

    def kill(progress: BatchProgress) -> None:
        found = [
            process
            for process in psutil.Process().children(recursive=True)
            if victims and read_command(process).startswith(victims[0])
        ]
        if found and progress.done > 20 * (3 - len(victims)):
            found[0].kill()
            victims.pop(0)

    progress = run_job(
        job,
        wiring,
        replace(SIZES, workers=(2, 2), questions_at_once=2),
        build_engine=build_echo,
        follow=kill,
        interval_s=0.2,
    )
    assert not victims
    assert progress.is_complete
    assert [row["id"] for row in read_rows(job, "id")] == [one.id for one in build_questions(200)]


def test_questions_are_asked_as_their_principals(wiring: Wiring, tmp_path: Path) -> None:
    settings = wiring.settings
    identity = settings.identity.model_validate(
        {
            "local": {"roles": ["analyst"]},
            "principals": {
                "mia": {"roles": ["department_member"], "attributes": {"department_id": 31}}
            },
        }
    )
    guarded = settings.databases["demo_erp"].model_copy(update={"policy": POLICY})
    update = {
        "identity": identity,
        "databases": {**settings.databases, "demo_erp": guarded},
        "batch": settings.batch.model_copy(update={"act_for": {"local": ("mia",)}}),
    }
    allowed = replace(wiring, settings=settings.model_copy(update=update))
    questions = [
        BatchQuestion(f"{name or 'nobody'} {number}", COUNT, principal=name)
        for number in range(10)
        for name in ("", "mia", "local")
    ]
    job = build_job(tmp_path / "allowed", *questions, kept_rows=1, result_format=ResultFormat.JSONL)
    run(job, allowed)
    counts: dict[str, set[int]] = {}
    for row in read_rows(job):
        counts.setdefault(row["principal"], set()).add(row["rows"][0][0])
        assert row["id"].split()[0] in (row["principal"], "nobody")
    (everybody,), (own,) = counts["local"], counts["mia"]
    assert everybody > own > 0

    withdrawn = replace(
        wiring, settings=settings.model_copy(update={**update, "batch": settings.batch})
    )
    with pytest.raises(Forbidden, match="local may not ask as mia"):
        run(job, withdrawn)


def test_a_running_service_answers(wiring: Wiring, tmp_path: Path) -> None:
    sql = "SELECT 1"
    service = build_app(
        generator=FakeGenerator(*[build_generated(build_candidate(sql))] * 9),
        results={sql: [build_result((1,))] * 9},
    )
    job = build_job(tmp_path, *[BatchQuestion(f"{n}", f"Question {n}?") for n in range(9)])
    with serve(service) as url:
        progress = run_job(job, wiring, SIZES, service=url, build_engine=build_broken)
    assert progress.outcomes == {"answered": 9}
    assert {row["sql"] for row in read_rows(job, "sql")} == {sql}


def test_an_engine_that_does_not_start_ends_the_job(wiring: Wiring, tmp_path: Path) -> None:
    job = build_job(tmp_path, *build_questions(1))
    with pytest.raises(SettingsError, match="There are no weights"):
        run_job(job, wiring, SIZES, build_engine=build_broken)
    assert not job.list_results()


def test_our_own_error_is_found_behind_rays() -> None:
    own = EngineUnavailable("It died.")
    outer = RuntimeError("a traceback")
    outer.__cause__ = own
    assert find_cause(outer) is own
    assert "goes on from there" in str(find_cause(RuntimeError("The node died.\n")))

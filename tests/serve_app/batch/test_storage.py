"""Folders and files on this machine and on an S3-compatible server, and a whole job there.

The server is moto's, of 5.2.5 or newer (``pip install 'moto[server]'``); QUORUMSQL_TEST_MOTO names
its program, ``moto_server``.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyarrow import fs

from nl2sql.errors import SettingsError
from serve_app.batch.figures import ProgressReader
from serve_app.batch.job import find_job
from serve_app.batch.questions import describe_files, read_files
from serve_app.batch.storage import find_files, open_folder
from tests.serve_app.batch.jobs import build_job, build_questions, read_rows
from tests.serve_app.batch.test_job import write_results

SERVER = os.environ.get("QUORUMSQL_TEST_MOTO")
BUCKET = "jobs"


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """The URI of an empty bucket; workers of a Ray that starts later find its server too."""
    if SERVER is None:
        pytest.skip("QUORUMSQL_TEST_MOTO names no S3 server")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    environ = {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
    }
    before = {name: os.environ.get(name) for name in environ}
    os.environ.update(environ)
    server = subprocess.Popen(
        [SERVER, "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        create_bucket(url)
        yield f"s3://{BUCKET}"
    finally:
        server.kill()
        server.wait()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def create_bucket(url: str) -> None:
    store = fs.S3FileSystem(endpoint_override=url, allow_bucket_creation=True)
    for _ in range(50):
        try:
            store.create_dir(BUCKET)
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise AssertionError("moto_server does not start")


@pytest.fixture(params=["local", "s3"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "local":
        return str(tmp_path / "folder")
    return f"{request.getfixturevalue('bucket')}/{tmp_path.name}"


def test_files_of_a_folder(location: str) -> None:
    folder = open_folder(location)
    folder.create()
    assert folder.read("a.json") is None
    assert folder.list_files() == []
    folder.write("a.json", b"1")
    folder.write("a.json", b"22")
    (folder / "inner").create()
    (folder / "inner").write("_b.json", b"3")
    assert folder.read("a.json") == b"22"
    assert [Path(info.path).name for info in folder.list_files()] == ["a.json"]
    assert [info.path for info in find_files(location)[1]] == [f"{folder.path}/a.json"]
    assert [info.path for info in find_files(f"{location}/a.json")[1]] == [f"{folder.path}/a.json"]
    with pytest.raises(SettingsError, match="no files"):
        find_files(f"{location}/inner")
    before = describe_files(location)
    assert before == describe_files(location)
    folder.write("a.json", b"333")
    assert before != describe_files(location)


def test_a_job_in_a_folder(location: str) -> None:
    open_folder(location).create()
    lines = [{"id": question.id, "question": question.question} for question in build_questions(4)]
    content = "".join(f"{json.dumps(line)}\n" for line in lines)
    open_folder(location).write("questions.jsonl", content.encode())
    questions = list(read_files(f"{location}/questions.jsonl"))
    job = build_job(f"{location}/answers", *questions, block_rows=2)
    for number in range(2):
        write_results(job, number)
    found = find_job(job.output)
    assert found is not None
    assert found.stored == job.stored
    assert ProgressReader(found).read().is_complete
    assert [row["id"] for row in read_rows(found, "id")] == [one.id for one in questions]
    # As if it had been killed before the last file.
    job.output.filesystem.delete_file(job.list_results()[-1].path)
    assert len(found.list_open_blocks()) == 1

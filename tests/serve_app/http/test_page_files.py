"""The files of the page: for everybody, with a strict policy, and no others."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from serve_app.http.page_files import CONTENT_SECURITY_POLICY
from serve_app.page import STATIC
from tests.fakes import build_settings
from tests.serve_app.http.asgi import HOST, Exchange, build_scope
from tests.serve_app.served import build_app, connect

FOLDER = Path(str(STATIC))
TYPES = {
    ".js": "text/javascript",
    ".mjs": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
WITH_TOKENS = {"principals": {"ann": {"token_env": "ANN_TOKEN"}}}


async def test_the_page_needs_no_token_and_its_data_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANN_TOKEN", "s3cret")
    async with connect(build_app(build_settings(identity=WITH_TOKENS))) as client:
        page = await client.get("/")
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert page.content == STATIC.joinpath("index.html").read_bytes()
        assert (await client.post("/query", json={"question": "Q?"})).status_code == 401


def list_files() -> list[Path]:
    return [file for file in FOLDER.rglob("*") if file.is_file()]


async def test_every_file_has_its_type_and_the_policy() -> None:
    async with connect(build_app()) as client:
        for file in list_files():
            answer = await client.get(f"/page/{file.relative_to(FOLDER)}")
            assert (answer.status_code, answer.content) == (200, file.read_bytes()), file
            media_type = answer.headers["content-type"].split(";")[0]
            assert media_type == TYPES.get(file.suffix, media_type), file
            assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["x-frame-options"] == "DENY"


def test_the_policy_allows_nothing_inline_and_no_other_host() -> None:
    assert "unsafe" not in CONTENT_SECURITY_POLICY
    assert not re.search(r"https?:|\*", CONTENT_SECURITY_POLICY)
    for file in FOLDER.glob("*.html"):
        text = file.read_text()
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", text), file


async def test_a_browser_keeps_a_file_until_it_changes() -> None:
    async with connect(build_app()) as client:
        first = await client.get("/")
        assert first.headers["cache-control"] == "no-cache"
        again = await client.get("/", headers={"If-None-Match": first.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        assert again.headers["etag"] == first.headers["etag"]
        other = await client.get("/", headers={"If-None-Match": '"another"'})
        assert other.status_code == 200


async def test_texts_are_compressed_for_those_that_read_gzip_and_head_sends_nothing() -> None:
    app = build_app()
    whole = await Exchange().send_to(app, build_scope("GET", "/"))
    packed = await Exchange().send_to(
        app, build_scope("GET", "/", [HOST, (b"accept-encoding", b"br, gzip")])
    )
    assert "content-encoding" not in whole.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == whole.body
    head = await Exchange().send_to(app, build_scope("HEAD", "/"))
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]


@pytest.mark.parametrize(
    "path",
    [
        "/page/",
        "/page/../__init__.py",
        "/page/..%2f__init__.py",
        "/page/%2e%2e/__init__.py",
        "/page//etc/passwd",
        "/page/nothing.js",
        "/page/index.html%00",
    ],
)
async def test_no_path_leads_to_another_file(path: str) -> None:
    found = await Exchange().send_to(build_app(), build_scope("GET", path))
    assert found.status == 404
    assert found.headers["content-type"] == "application/problem+json"
    assert found.headers["content-security-policy"] == CONTENT_SECURITY_POLICY


async def test_the_page_can_be_switched_off() -> None:
    settings = build_settings(page={"enabled": False})
    scope = build_scope("GET", "/")
    assert (await Exchange().send_to(build_app(settings), scope)).status == 404

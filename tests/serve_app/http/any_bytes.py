"""Requests of any bytes: what a client may send, sane, broken, and in between."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

# Half characters and NUL among them: JSON can write what no encoding can.
TEXTS = st.text(st.characters(), max_size=40) | st.sampled_from(
    ["\ud800", "a\udfffb", "\0", "x" * 5000, "‮", "{}" * 30, "SELECT 1", "../..", "%ff", "new", "s"]
)
SCALARS = (
    TEXTS
    | st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**400, -(2**63), float("nan"), float("inf"), -0.0, 1e308])
    | st.floats()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
_FIELDS = st.sampled_from(
    "question evidence database k seed max_rows picked session answer_text trace spreadsheet_safe "
    "sql verdict correction".split()
)
_QUERY = {"question": "How many?"}
_FEEDBACK = {"question": "How many?", "sql": "SELECT 1", "verdict": "wrong"}


def _encode(value: Any) -> bytes:
    return json.dumps(value).encode()


OBJECTS = st.builds(
    lambda base, changes, unknown: {**base, **changes, **unknown},
    st.sampled_from([_QUERY, _FEEDBACK]),
    st.dictionaries(_FIELDS, VALUES, max_size=3),
    st.dictionaries(TEXTS, VALUES, max_size=2) | st.just({}),
)
_CUT = st.builds(lambda value, at: _encode(value)[: -at - 1], OBJECTS, st.integers(0, 9))
_SPLICED = st.builds(
    lambda value, at, junk: (text := _encode(value))[:at] + junk + text[at:],
    OBJECTS,
    st.integers(0, 60),
    st.binary(min_size=1, max_size=4),
)
EXTREMES = (
    b"[" * 60_000,
    b'{"question":' * 5_000,
    b'{"a":' * 9_000 + b"1" + b"}" * 9_000,
    b'{"question": ' + b"9" * 60_000 + b"}",
    b'{"question": "q", "k": 1' + b"0" * 5_000 + b"}",
    b'{"question": "q", "k": 1e999999999}',
    b'{"question": "q", "k": NaN, "seed": -Infinity}',
    b'{"question": "\xed\xa0\x80"}',
    b"\xef\xbb\xbf" + _encode(_QUERY),
    _encode(_QUERY).decode().encode("utf-16"),
    b"{" + b", ".join(b'"%d": 1' % at for at in range(6_000)) + b"}",
    b'{"' + b"x" * 60_000 + b'": 1}',
    b'{"question": "q", "database": "' + b"\\u0001" * 10_000 + b'"}',
    b'{"question": "q", "database": "' + b"\\ud800" * 10_000 + b'"}',
    b'{"question": "q", "question": "\\ud800", "question": ""}',
    b'"\\ud800"',
    b"\0" * 1000,
    b"{" + b", ".join(b'"%d' % at + b"\\u0001" * 1_000 + b'": 1' for at in range(9)) + b"}",
    _encode({f"{at}" + "𝄞" * 1000: 1 for at in range(5)}),
)
BODIES = (
    OBJECTS.map(_encode)
    | VALUES.map(_encode)
    | _CUT
    | _SPLICED
    | st.sampled_from(EXTREMES)
    | st.binary()
)

_PLAIN = st.binary(max_size=30).map(
    lambda raw: bytes(byte for byte in raw if byte >= 32 and byte != 127)
)
_KNOWN = st.sampled_from(
    [
        (b"accept", b"text/csv"), (b"accept", b"text/csv;q=nan, */*;q=1e999"), (b"accept", b";,;q"),
        (b"content-type", b"application/json; charset=\xff"), (b"content-type", b"text/plain"),
        (b"content-type", b"application/x+json"), (b"content-type", b"multipart/form-data"),
        (b"content-type", b"\xff"), (b"content-length", b"-1"), (b"content-length", b"x"),
        (b"authorization", b"Bearer s3cret"), (b"authorization", b"Bearer \xff"),
        (b"origin", b"http://localhost"), (b"origin", b"\xff"), (b"sec-fetch-site", b"cross-site"),
        (b"host", b"localhost"), (b"host", b"\xff"), (b"cookie", b"\xff=\xfe"),
        (b"if-none-match", b"*"), (b"x-forwarded-host", b"evil.io"), (b"expect", b"100-continue"),
    ]
)  # fmt: skip
_NAMES = st.sampled_from(
    b"accept content-type authorization origin host content-length cookie x-a".split()
)
HEADERS = st.lists(_KNOWN | st.tuples(_NAMES, _PLAIN), max_size=4)

_SEGMENTS = st.text(st.characters(min_codepoint=33, max_codepoint=126), max_size=12)
TARGETS = st.sampled_from(
    [
        "/query", "/query", "/query", "/feedback", "/feedback", "/sessions/s", "/sessions/%ff%00",
        "/sessions/%ed%a0%80", "/sessions/..%2f", "/healthz", "/readyz", "/docs", "/openapi.json",
        "/query/", "//query", "/query?%ff=%00&question=x", "/query?" + "a=b&" * 500, "*", "",
    ]
) | st.builds(lambda a, b: f"/{a}/{b}", _SEGMENTS, _SEGMENTS)  # fmt: skip
METHODS = st.sampled_from(
    ["POST", "POST", "POST", "GET", "DELETE", "PUT", "HEAD", "OPTIONS", "TRACE", "PATCH", "X"]
)

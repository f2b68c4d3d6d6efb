"""What of a third party's script psql gets to see."""

from __future__ import annotations

from pathlib import Path

import pytest

from execution.postgres.restore import mentions_today, read_script
from nl2sql.errors import SettingsError

DUMP = r"""--
-- PostgreSQL database dump
--

\restrict abc123

CREATE TABLE public.t (a text);
ALTER TABLE public.t OWNER TO "some one";
COMMENT ON EXTENSION plpgsql IS 'PL/pgSQL';
COPY public.t (a) FROM stdin;
ALTER TABLE public.t OWNER TO me;
\\unrestricted
\.
GRANT SELECT ON TABLE public.t TO some_role;
REVOKE ALL ON SCHEMA public FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE x IN SCHEMA public GRANT SELECT ON TABLES TO y;
\unrestrict abc123
"""


def read(folder: Path, text: str) -> list[str]:
    path = folder / "script.sql"
    path.write_text(text)
    return [line.decode() for line in read_script(path)]


def test_of_a_dump_ownership_and_restriction_are_blank_and_lines_keep_their_place(
    tmp_path: Path,
) -> None:
    text = DUMP.replace("unrestricted", "data")
    blank = ("\\restrict", "\\unrestrict", "GRANT", "REVOKE", "ALTER DEFAULT", "COMMENT ON EXT")
    expected = [
        "\n" if line.startswith(blank) or line.endswith('OWNER TO "some one";\n') else line
        for line in text.splitlines(keepends=True)
    ]
    assert expected.count("\n") == 9
    assert read(tmp_path, text) == expected


def test_what_is_no_dump_keeps_every_line(tmp_path: Path) -> None:
    text = "CREATE TABLE t (a int);\nALTER TABLE t OWNER TO me;\n"
    assert read(tmp_path, text) == text.splitlines(keepends=True)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT 1;\n\\unrestrict abc\n",
        "SELECT 1 \\unrestrict `touch x`\n",
        "\\restrict abc\nCOPY t FROM stdin;\n\\unrestrict `touch x`\n\\.\n",
        "\\restrict abc\n\\unrestrict abc `touch x`\n",
        DUMP,  # in a row; it cannot be told for certain from a command
    ],
)
def test_unrestrict_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match=r"script\.sql, line \d+: \\unrestrict"):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("INSERT INTO t VALUES (1, current_date - 3);", True),
        ("INSERT INTO t VALUES (NOW());", True),
        ("INSERT INTO t VALUES (now ( ));", True),
        ("INSERT INTO t VALUES (CURRENT_TIMESTAMP(0));", True),
        ("INSERT INTO t VALUES ('now()');", False),
        ("INSERT INTO t VALUES (1); -- CURRENT_DATE", False),
        ("SELECT current_dates, know(1);", False),
        ("COPY t (a) FROM stdin;\nuse now() here\n\\.\n", False),
        ("COPY t (a) FROM stdin;\n1\n\\.\nSELECT now();", True),
    ],
)
def test_a_script_that_asks_the_clock(tmp_path: Path, text: str, expected: bool) -> None:
    path = tmp_path / "script.sql"
    path.write_text(text)
    assert mentions_today(path) is expected

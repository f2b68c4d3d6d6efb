"""What is mutated, and by which tests it is judged."""

from __future__ import annotations

from tests.mutation.mutant import ROOT

# The guard, its resolver, policies, second readers and dialects. A pattern that names several files
# takes in those that are added later.
_PATTERNS = (
    "execution/guard/*.py",
    "execution/name_resolution/*.py",
    "execution/parsing/call_spelling.py",
    "execution/parsing/comments.py",
    "execution/parsing/plain_calls.py",
    "execution/parsing/plain_parser.py",
    "execution/policies/access.py",
    "execution/policies/filter_columns.py",
    "execution/policies/filter_parsing.py",
    "execution/policies/grouping.py",
    "execution/policies/parameters.py",
    "execution/policies/policy_file.py",
    "execution/policies/row_hints.py",
    "execution/policies/rules.py",
    "execution/policies/views.py",
    "execution/policies/wrappers.py",
    "execution/postgres/second_check.py",
    "execution/postgres/*names.py",
    "execution/postgres/dialect.py",
    "execution/postgres/plan_verification.py",
    "execution/postgres/plan.py",
    "execution/sqlite/authorizer.py",
    "execution/sqlite/dialect.py",
    "execution/sqlite/allowed_nodes.py",
    "execution/sqlite/names.py",
    "execution/duckdb/dialect.py",
    "execution/duckdb/second_check.py",
    "execution/duckdb/plan.py",
    "execution/duckdb/statement.py",
    "execution/allowlists/__init__.py",
    "execution/allowlists/*.yaml",
)

# Where the tests are that judge, by phase. The injections' run the whole pipeline.
TESTS = {
    "fast": ("tests/execution", "tests/attacks", "execution"),
    "server": ("tests/execution", "tests/attacks", "tests/oracle"),
}
LEFT_OUT = ("tests/attacks/injections",)

# Tests that need one of these need a server, and are run for what the others let live.
SERVER_FIXTURES = frozenset({"embedded_server", "server"})


def list_targets() -> tuple[str, ...]:
    """The files to mutate, relative to the root."""
    found = {
        str(path.relative_to(ROOT)) for pattern in _PATTERNS for path in sorted(ROOT.glob(pattern))
    }
    return tuple(sorted(found))


def name_module(path: str) -> str:
    """The dotted name of the module in the file at ``path``.

    >>> name_module("execution/policies/__init__.py"), name_module("execution/guard/guard.py")
    ('execution.policies', 'execution.guard.guard')
    """
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

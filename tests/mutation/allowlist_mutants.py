"""Mutants of the allowlists: an entry missing, and an entry that must not be there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.mutation.mutant import Edit, Mutant

_KEY = re.compile(r"(\w+):\s*$")
_ENTRY = re.compile(r"  - ([^#\n]+?)\s*(?:#.*)?$")

# What must not be on a list, by file and key: one of each kind of harm, and what stands next to
# something that is allowed.
_HARMFUL = {
    ("postgres", "nodes"): "IntoClause LockingClause ParamRef XmlExpr JsonTable RangeTableSample "
    "InsertStmt DeleteStmt UpdateStmt CopyStmt DoStmt CallStmt VariableSetStmt",
    (
        "postgres",
        "functions",
    ): "ts_stat ts_rewrite query_to_xml set_config current_setting pg_sleep "
    "pg_sleep_for pg_advisory_lock pg_terminate_backend pg_cancel_backend pg_read_file pg_ls_dir "
    "pg_stat_file lo_get lo_import lo_export dblink dblink_exec nextval setval pg_notify "
    "txid_current pg_stat_get_activity table_to_xml database_to_xml version inet_server_addr "
    "pg_relation_size pg_get_viewdef has_table_privilege pg_reload_conf pg_logical_emit_message",
    ("postgres", "types"): "regclass regproc regrole regtype oid xml pg_lsn record",
    ("sqlite", "nodes"): "Match RegexpLike IndexTableHint HexString Command Pragma Attach Insert",
    ("sqlite", "functions"): "load_extension readfile writefile edit fts3_tokenizer randomblob "
    "zeroblob sqlite_compileoption_get sqlite_version writefile random last_insert_rowid changes",
    ("duckdb", "nodes"): "DELETE_QUERY_NODE INSERT_QUERY_NODE UPDATE_QUERY_NODE SHOW_REF PIVOT "
    "POSITIONAL_REFERENCE DEFAULT VALUE_PARAMETER",
    ("duckdb", "functions"): "read_csv read_csv_auto read_text read_blob read_parquet glob getenv "
    "query query_table current_setting duckdb_settings duckdb_tables pragma_table_info nextval "
    "write_log sniff_csv parquet_metadata txid_current current_query sql_auto_complete "
    "json_execute_serialized_sql getvariable version seq_scan",
    ("duckdb", "types"): "regclass oid map struct union variant",
    ("tree", "nodes"): "Command Insert Update Delete Merge Into Lock Copy Set Create Drop Pragma "
    "Parameter Placeholder SessionParameter Describe Show TableSample Pivot Hint National Expr",
}


def list_allowlist_mutants(path: str, source: bytes) -> tuple[Mutant, ...]:
    """The mutants of the YAML file ``source``, in the order of its text."""
    return tuple(_iterate(path, source))


def _iterate(path: str, source: bytes) -> Iterator[Mutant]:
    stem = path.rpartition("/")[2].removesuffix(".yaml")
    present = set(re.findall(r"^  - ([^#\s]+)", source.decode(), re.MULTILINE))
    start = 0
    for number, line in enumerate(source.splitlines(keepends=True), start=1):
        text = line.decode().rstrip("\n")
        if found := _KEY.fullmatch(text):
            end = start + len(line)
            for name in dict.fromkeys(_HARMFUL.get((stem, found[1]), "").split()):
                if name not in present:
                    edit = Edit(end, end, f"  - {name}\n")
                    yield Mutant(path, number, f"{found[1]}: entry added", (edit,))
        elif _ENTRY.fullmatch(text):
            yield Mutant(path, number, "entry dropped", (Edit(start, start + len(line), ""),))
        start += len(line)

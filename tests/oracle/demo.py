"""The oracle's subject that is always there: the demo ERP with views, and who asks of it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import data.demo_erp
from data.demo_erp import read_tables
from execution.postgres.embedded import READER, SUPERUSER, EmbeddedServer
from retrieval.introspection.postgres.catalog import read_postgres_catalog
from tests.demo import MODULES
from tests.oracle.grants import read_policy, read_principals
from tests.oracle.postgres_copies import open_superuser
from tests.oracle.stage import PostgresStage, Subject

DATABASE = "oracle_demo"
_FOLDER = Path(__file__).parent
_ROLES = _FOLDER / "demo_roles.yaml"

PRINCIPALS = read_principals(read_policy(_ROLES)["principals"])


def open_demo(server: EmbeddedServer) -> PostgresStage:
    """The stage over the demo ERP, loaded if it is not there. Raises DatabaseUnavailable."""
    schema = data.demo_erp.SCHEMA_SQL.read_text(encoding="utf-8")
    views = (_FOLDER / "demo_views.sql").read_text(encoding="utf-8")
    digest = hashlib.sha256((schema + views).encode()).hexdigest()
    loaded = server.load(DATABASE, f"{schema}\n{views}", read_tables(), version=f"oracle {digest}")
    if loaded:
        with open_superuser(server, DATABASE) as connection:
            # It was made before there were rows.
            connection.execute("REFRESH MATERIALIZED VIEW support.ticket_counts")
    catalog = read_postgres_catalog(
        server.url(DATABASE, SUPERUSER), database=DATABASE, reader_role=READER, schemas=MODULES
    )
    derived = read_policy(_ROLES)["derived"]
    subject = Subject(DATABASE, catalog, read_demo_policy(), read_demo_golds(), derived)
    return PostgresStage(server, subject)


def read_demo_policy() -> dict[str, Any]:
    """The policy file of the demo ERP, with the oracle's views and roles added to it."""
    policy = read_policy(data.demo_erp.SETTINGS.with_name("policy.yaml"))
    added = read_policy(_ROLES)
    policy["database"] = DATABASE
    policy["attributes"] |= added["attributes"]
    for role, views in added["views"].items():
        policy["roles"][role]["tables"]["visible"] += views
    policy["roles"] |= added["roles"]
    return policy


def read_demo_golds() -> list[tuple[str, str]]:
    """(identifier, gold SQL) of the demo's questions."""
    lines = data.demo_erp.QUESTIONS.read_text(encoding="utf-8").splitlines()
    return [(entry["id"], entry["query"]) for entry in map(json.loads, lines)]

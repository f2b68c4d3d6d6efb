"""SQL out of a model's answer, and the normal form under which two answers are one candidate."""

from __future__ import annotations

from nl2sql.sql_text.extraction import extract_sql
from nl2sql.sql_text.normal_form import normal_form

__all__ = ["extract_sql", "normal_form"]

"""All that is particular to DuckDB: dialect, grammar, plans, running a guarded query."""

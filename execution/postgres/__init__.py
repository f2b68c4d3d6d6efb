"""All that is particular to PostgreSQL: dialect, grammar, plans, running a guarded query."""

"""All that is particular to SQLite: dialect, grammar, running a guarded query."""

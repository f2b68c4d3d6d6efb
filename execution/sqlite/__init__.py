"""Everything specific to SQLite: dialect, grammar, running a guarded query."""

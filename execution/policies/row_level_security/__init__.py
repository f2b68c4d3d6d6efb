"""The policies as row-level security in PostgreSQL, in addition to the guard."""

"""The policies as PostgreSQL's own row-level security, behind the guard."""

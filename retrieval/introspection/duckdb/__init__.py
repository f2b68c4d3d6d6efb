"""Introspection of DuckDB files."""

"""Introspection of SQLite files."""

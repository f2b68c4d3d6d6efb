"""Introspection of PostgreSQL."""

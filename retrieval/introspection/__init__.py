"""Reads the source databases: catalogs, distinct values, samples of keys."""

"""Reads SQL: parsing, names, the normal form, and the query in a model's answer."""

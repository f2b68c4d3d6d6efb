"""Measures a running service on questions with gold SQL: every number anyone can rerun."""

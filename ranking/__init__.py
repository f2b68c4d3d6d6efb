"""Chooses a winner among guarded candidates: lint, EXPLAIN, score, vote over equivalent results."""

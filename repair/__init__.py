"""Repairs a failed candidate: first by rule, then by the model, at most once."""

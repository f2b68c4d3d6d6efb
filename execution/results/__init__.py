"""Collects the rows of a result within limits, and exports them in several formats."""

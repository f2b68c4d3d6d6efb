"""Reads benchmarks in their published formats."""

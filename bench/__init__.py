"""Benchmarks of this code itself, run by hand; their figures stand in docs/measurements."""

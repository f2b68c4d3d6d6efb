"""Runs of a benchmark: asks the questions, and records answers and the environment."""

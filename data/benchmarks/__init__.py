"""Reads benchmarks in their published formats: a module for each format; ``load`` chooses it."""

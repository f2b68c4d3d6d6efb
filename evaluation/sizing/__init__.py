"""Estimates latency, replicas and GPUs for a load.

``predict`` does so for one deployment, ``find_smallest`` searches for the cheapest one that meets a
target. ``docs/explanation/sizing.md`` describes the formulas and their errors.
"""

"""Predicts latency, refusals, replicas and GPUs for a load, by simulating the service.

``simulate`` runs one configuration, ``find_smallest`` searches for the cheapest one that meets
targets. ``docs/explanation/sizing.md`` describes the model and its errors.
"""

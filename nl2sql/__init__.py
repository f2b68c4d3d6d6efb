"""The vocabulary of QuorumSQL and the pipeline over it.

Knows no ray, no vllm and no database driver; every other folder depends on this one.
"""

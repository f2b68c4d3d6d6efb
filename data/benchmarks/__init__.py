"""Benchmarks as they are published: one module a format, and ``load`` to find the right one."""

"""The oracle of the guard: what it lets through returns what a copy of the principal's own returns.

``python -m tests.oracle`` runs it in full; a sample runs with the tests. ``grants.py`` reads policy
files and ``postgres_copies.py`` and ``file_copies.py`` build the copies without any code of the
guard's, so that one mistake cannot stand on both sides.
"""

"""Which constructs of each database's grammar the generators produce, and the guard admits.

``python -m tests.oracle coverage`` counts over many statements of each generator and prints a
table for each database.
"""

"""The security boundary: the guard, and the read-only connections to the databases.

Every query passes the guard before it reaches a database; ``guard/guard.py`` lists its guarantees.
"""

"""The security boundary: the guard, and the read-only connections to the databases.

Everything that reaches a database passes the guard first; see ``guard.py`` for what it promises.
"""

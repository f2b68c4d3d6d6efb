"""Metamorphic checks: a hidden row or value that changes must change nothing that a principal sees.

The oracle holds a guarded query against a copy without what is hidden. Here two whole databases are
held against each other, equal in everything that the principal may see, through the
product's own connections: what differs came from something hidden, if only by the planner's
statistics.
"""

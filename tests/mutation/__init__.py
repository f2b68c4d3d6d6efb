"""Mutation testing of the guard: does the suite notice when a line of it is wrong?

Each mutant is the security boundary with one small fault: a comparison turned round, a condition
left out, a statement dropped, a name taken from a list or added to one. The tests that execute the
faulty line are run; a mutant that all of them pass has survived, and is either equivalent to the
original or shows a gap in the suite. ``undone_repairs.py`` undoes known repairs in the same way.

Own code, since mutmut (3.8) changes functions only, where much of the guard is in its tables of
names, and cosmic-ray (8.7) starts a new process for each mutant, which takes 10 s here.
"""

"""Whether the text that runs means what the original text means, on the database itself.

Statements over operators, literals, casts and precedence are guarded with a policy that hides
nothing, or with none; then original and rewritten text run on the same rows. Types, values, their
order and the columns' names must be the same, or both must fail. ``templates.py`` puts statements
together, one module for each database says of what.
"""

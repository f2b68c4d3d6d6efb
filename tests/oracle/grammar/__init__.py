"""Random queries by a grammar: typed expressions, sources under any names, every clause.

A ``Dialect`` is the grammar of one database's expressions as data; the modules beside it build the
queries around them. Names are drawn on purpose from those that are dangerous to believe: names of
functions, of other tables, of columns that a list of names has replaced.
"""

"""Resolves every name of a query as its database will: tables, CTEs, columns, whole rows.

``walk`` goes over sqlglot's tree from the outside in and refuses nodes that no rule covers;
``columns`` finds the source of each column; ``resolver`` knows the catalog; ``scopes`` has the
values that they exchange.
"""

"""Resolves every name of a query as its database will: tables, CTEs, columns, whole rows.

``walk`` goes over sqlglot's tree from the outside in and refuses nodes that no rule covers;
``sources`` finds what stands in FROM, ``columns`` the source of each column; ``scopes`` has the
values that they exchange, and knows the catalog.
"""

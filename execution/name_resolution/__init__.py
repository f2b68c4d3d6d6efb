"""Resolves every name of a query as its database will: tables, CTEs, columns, whole rows.

``walk`` goes over sqlglot's tree from the outside in and leaves nothing that no rule has explained;
``columns`` finds what a column names among the sources around it; ``resolver`` knows the catalog;
``scopes`` are the values that pass between them.
"""

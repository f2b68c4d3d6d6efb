"""Row policies: who may see which tables, rows and columns, and how a query is made to obey.

``policy_file`` is what people write; ``rules`` holds it against a catalog; ``access`` is what one
principal gets; ``wrappers`` are the derived tables that take the tables' places in a query.
"""

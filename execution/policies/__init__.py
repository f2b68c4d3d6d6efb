"""Row policies: who may see which tables, rows and columns, and how queries are rewritten for it.

``policy_file`` reads the file that people write; ``rules`` checks it against a catalog; ``access``
is the access of one principal; ``wrappers`` are the derived tables that replace tables in a query.
"""

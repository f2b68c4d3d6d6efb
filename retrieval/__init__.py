"""From a question to the part of the schema that can answer it.

Module routing, hybrid search (pgvector and BM25, fused), foreign-key expansion, schema linking and
join planning. Database drivers stay inside ``index_store``.
"""

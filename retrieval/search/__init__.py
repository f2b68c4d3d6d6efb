"""Retrieval: which modules and tables a question is about.

Module routing, cosine and BM25 rankings of tables and columns, fusion, foreign-key expansion.
"""

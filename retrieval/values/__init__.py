"""The value index: which cell values a question speaks of.

Distinct values of text columns are read once by the reader's role, kept beside the index, and held
in memory for matching. Database drivers stay inside ``index_store``.
"""

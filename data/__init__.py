"""Databases that come with QuorumSQL: the demo ERP, its questions and its row policies.

Imports only from ``nl2sql``; the files are packaged with the product.
"""

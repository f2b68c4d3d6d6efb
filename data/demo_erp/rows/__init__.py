"""Rows of the demo ERP, one module a file.

Each ``build_*`` takes its own random source and what earlier modules built, and returns its
tables together with the records that later modules refer to. No file keeps state.
"""

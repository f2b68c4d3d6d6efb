"""Rows of the demo ERP, one file for each module.

Each ``build_*`` function takes its own random source and the results of earlier modules, and
returns its tables with the records that later modules refer to. There is no global state.
"""

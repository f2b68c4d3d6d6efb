"""Databases that come with QuorumSQL: the demo ERP, its questions and its row policies.

Imports nothing from the other folders; everything here works as package data.
"""

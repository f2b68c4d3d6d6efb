"""Reads the definitions that other tools have: dbt, Cube, and the MDL of WrenAI."""

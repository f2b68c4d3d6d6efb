"""Builds the implementation of every stage, for all ways to run the pipeline."""

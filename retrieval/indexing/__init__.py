"""Indexing as a long job: a sequence of phases from reading the schema to a live index."""

from retrieval.indexing.job import IndexReport, index_database, run_job

__all__ = ["IndexReport", "index_database", "run_job"]

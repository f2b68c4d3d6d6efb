"""Indexing as a long job: a tuple of phases from the schema to an index that is live."""

from retrieval.indexing.job import IndexReport, index_database, run_job

__all__ = ["IndexReport", "index_database", "run_job"]

"""Measures what retrieval finds, without a language model: recall, misses by cause, times."""

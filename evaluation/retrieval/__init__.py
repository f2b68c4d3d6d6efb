"""Measures retrieval without a language model: recall, causes of misses, times."""

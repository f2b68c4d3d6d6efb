"""What is read of the source databases: catalogs, distinct values, samples of keys."""

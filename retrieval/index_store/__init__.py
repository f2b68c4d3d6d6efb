"""The product's own tables in PostgreSQL: the index, examples, feedback and sessions."""

"""The only part of retrieval that talks to PostgreSQL: catalog introspection and the index."""

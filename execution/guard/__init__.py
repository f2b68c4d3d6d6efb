"""The guard: parsing, names, allowlists, growth. Nothing else lets a query through."""

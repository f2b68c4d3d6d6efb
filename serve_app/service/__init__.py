"""The services between the pipeline and its interfaces: they check, limit and answer requests."""

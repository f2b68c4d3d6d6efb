"""The client of a QuorumSQL service."""

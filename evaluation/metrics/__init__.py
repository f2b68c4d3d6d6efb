"""Compares answers with gold queries and computes figures, statistics and calibrations."""

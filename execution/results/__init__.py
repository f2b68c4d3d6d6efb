"""Rows of a result, collected within limits and exported in the forms of other programs."""

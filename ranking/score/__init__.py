"""The score of a candidate: a sum of named terms."""

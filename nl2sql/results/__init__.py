"""Results: when two are equivalent, and the form of a cell for comparing and for JSON."""

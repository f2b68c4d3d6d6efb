"""Results: their equivalence, and the form of a cell for comparison and for JSON."""

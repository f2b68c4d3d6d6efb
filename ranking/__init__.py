"""From guarded candidates to a winner: lint, EXPLAIN, score, the vote over equivalent results."""

"""How the tables of a question are joined, and which joins nothing declares."""

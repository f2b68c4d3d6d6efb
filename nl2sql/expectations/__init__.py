"""What the words of a question expect of its answer. English only; no word raises an error."""

"""What the words of a question expect of its answer. Reads English; no word raises an error."""

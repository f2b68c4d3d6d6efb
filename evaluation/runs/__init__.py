"""A run of a benchmark: asked, recorded question by question, and what it was made with."""

"""The pipeline: sampling rounds, repair rounds, the conclusion, and the dialogue around it."""

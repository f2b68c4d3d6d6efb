"""A failed candidate becomes a new one: first by rule, then by the model, at most once."""

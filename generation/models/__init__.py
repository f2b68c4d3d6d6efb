"""The model store: where weights come from, verified, converted once, found again."""

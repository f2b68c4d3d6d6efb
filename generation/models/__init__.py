"""The model store: downloads, verifies, converts and finds the weights of models."""

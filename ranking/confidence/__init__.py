"""Estimates how likely the winner of a vote is right: its features, and the fitted model."""

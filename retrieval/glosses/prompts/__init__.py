"""Prompts of the glosses that the model writes."""

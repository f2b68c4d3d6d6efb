"""Trains a LoRA adapter for a model from questions with the queries that answer them."""

"""The prompts of schema linking by the model: ``NAME.txt`` with ``$variables``."""

"""The prompts for generation: text files, rendered by ``nl2sql.prompts``."""

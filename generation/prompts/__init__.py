"""The prompts for generation, as files (rendered by ``nl2sql.prompts``)."""

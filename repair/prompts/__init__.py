"""The prompts for repair, as files (rendered by ``nl2sql.prompts``)."""

"""From a question and its schema to candidates: prompts, engines, model store, conversation."""

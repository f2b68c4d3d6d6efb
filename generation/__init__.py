"""From a question and its schema to candidates: prompts, engines, the model store, the gate."""

"""The conversation around the query: intent gate, follow-ups, and the answer in words."""

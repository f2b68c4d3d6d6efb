"""What surrounds the query: the gate, follow-ups, and the answer in words."""

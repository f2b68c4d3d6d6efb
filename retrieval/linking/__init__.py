"""Links a question to tables and columns, and chooses the columns to show."""

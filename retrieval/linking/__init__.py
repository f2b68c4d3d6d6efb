"""Links a question to tables and columns, and tells which columns are worth showing."""

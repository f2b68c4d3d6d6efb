"""Words for tables, columns and values: packaged lists, units, the user's synonym file."""

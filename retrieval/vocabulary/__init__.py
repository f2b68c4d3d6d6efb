"""Words for tables, columns and values: packaged lists, units, the user's own file."""

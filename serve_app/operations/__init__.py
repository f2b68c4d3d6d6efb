"""The long jobs behind commands: index, serve, doctor, measure."""

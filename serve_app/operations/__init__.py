"""Long jobs behind commands: index, serve, doctor, measure."""

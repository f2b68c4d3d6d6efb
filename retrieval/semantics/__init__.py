"""The semantic layer: measures, dimensions and filters that the user defines for a database."""

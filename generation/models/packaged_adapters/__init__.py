"""The adapters that come with the package, and their registry ``adapters.yaml``: only data."""

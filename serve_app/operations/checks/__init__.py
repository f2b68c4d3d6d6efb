"""The checks of ``quorumsql doctor``: each reports a status and, if needed, a remedy."""

"""What the dialects' parsers share: nodes, comments and the spelling of calls."""

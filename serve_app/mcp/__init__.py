"""The Model Context Protocol: tools for language models, over stdio and HTTP."""

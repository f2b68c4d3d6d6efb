"""Who asks: static tokens, API keys, and signed tokens of an identity provider."""

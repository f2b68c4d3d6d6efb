"""The service in the form of OpenAI's API: ``/v1/models`` and ``/v1/chat/completions``."""

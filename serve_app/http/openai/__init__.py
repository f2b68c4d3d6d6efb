"""The service as OpenAI's API sees a language model: ``/v1/models`` and ``/v1/chat/completions``."""

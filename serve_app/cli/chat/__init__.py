"""``quorumsql chat``: asks several questions in one session, each with the earlier ones as context.

Answers come from the running service, or from this process, where model and databases stay open
between questions. An error is printed, and the loop continues with the next question.
"""

from serve_app.cli.chat.command import chat

__all__ = ["chat"]

"""Chat messages as token ids for llama.cpp, where only the model's own template opens a turn.

The template is rendered around stand-ins for the messages; template and messages are encoded apart,
marks such as ``<|im_start|>`` being marks in the former and plain text in the latter.
"""

from __future__ import annotations

from jinja2.sandbox import ImmutableSandboxedEnvironment

from generation.engines.chat_encoder import choose_cut
from nl2sql.types import Prompt


class ChatTemplate:
    """The template that stands in the weights' file."""

    def __init__(self, source: str, bos_token: str, eos_token: str) -> None:
        # As transformers does: templates are written for these.
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        self._template = environment.from_string(source)
        self._marks = {"bos_token": bos_token, "eos_token": eos_token}

    def split(self, prompt: Prompt, answer_start: str) -> tuple[list[str], list[str]]:
        """The template's pieces, and the messages between them, one fewer.

        >>> from nl2sql.types import Message
        >>> template = ChatTemplate("{% for m in messages %}<{{ m.content }}>{% endfor %}!", "", "")
        >>> template.split(Prompt("p", (Message("user", "a"), Message("user", "b"))), "x")
        (['<', '><', '>!x'], ['a', 'b'])
        """
        contents = [message.content for message in prompt.messages]
        cut = choose_cut(contents)
        text = self._template.render(
            messages=[
                {"role": message.role, "content": f"{cut}{at}{cut}"}
                for at, message in enumerate(prompt.messages)
            ],
            add_generation_prompt=True,
            **self._marks,
        )
        pieces = f"{text}{answer_start}".split(cut)
        return pieces[::2], [contents[int(at)] for at in pieces[1::2]]

"""Splits a chat for llama.cpp, so that only the model's chat template can open a turn.

The template is rendered around placeholders for the messages. Template and messages are encoded
separately: markers such as ``<|im_start|>`` are special tokens only in the template.
"""

from __future__ import annotations

from jinja2.sandbox import ImmutableSandboxedEnvironment

from generation.engines.chat_encoder import choose_cut
from nl2sql.types import Prompt


class ChatTemplate:
    """The chat template of the weights' file."""

    def __init__(self, source: str, bos_token: str, eos_token: str) -> None:
        # Templates are written for the options that transformers uses.
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        self._template = environment.from_string(source)
        self._marks = {"bos_token": bos_token, "eos_token": eos_token}

    def split(self, prompt: Prompt, answer_start: str) -> tuple[list[str], list[str]]:
        """The pieces of the template, and the messages between them.

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

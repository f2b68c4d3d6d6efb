"""How far a question is, in words."""

from __future__ import annotations

from nl2sql.types import Progress

# What a stage does, for people.
_STAGES = {
    "wait": "waiting for its turn",
    "rewrite": "reading the conversation",
    "retrieve": "finding tables",
    "gate": "checking the question",
    "draft": "drafting a query",
    "plan": "planning joins",
    "generate": "writing queries",
    "guard": "guarding candidates",
    "assess": "explaining candidates",
    "vote": "running candidates and voting",
    "repair": "repairing candidates",
    "derive": "deriving candidates",
    "execute": "fetching the rows",
    "words": "putting the answer in words",
}


def describe_stage(progress: Progress) -> str:
    """How far a question is, in words.

    >>> describe_stage(Progress("generate", done=2, total=4, answer_tokens=91))
    'writing queries: 2 of 4, 91 tokens'
    >>> describe_stage(Progress("generate", prompt_tokens_read=512, prompt_tokens=900))
    'writing queries: 512 of 900 tokens of the prompt read'
    """
    counts: list[str] = []
    if progress.answer_tokens:
        tokens = f"{progress.answer_tokens:,} tokens"
        several = progress.total > 1
        counts += [f"{progress.done} of {progress.total}", tokens] if several else [tokens]
    elif progress.prompt_tokens:
        read = f"{progress.prompt_tokens_read:,} of {progress.prompt_tokens:,}"
        counts.append(f"{read} tokens of the prompt read")
    elif progress.total:
        counts.append(f"{progress.done} of {progress.total}")
    name = _STAGES.get(progress.stage, progress.stage)
    return f"{name}: {', '.join(counts)}" if counts else name

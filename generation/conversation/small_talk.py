"""Recognises greetings, thanks and requests for poems, code or translations.

Only a few unambiguous forms. The gate uses this only for questions that are far from all tables, so
that a database about poems can be asked for one.
"""

from __future__ import annotations

import re

_WORKS = (
    r"joke|story|poem|haiku|limerick|song|essay|letter|e-?mail|regex|regular expression|"
    r"(?:\w+ )?(?:function|script|program|class)"
)
_FORMS = (
    r"(?:hello|hi|hey|good (?:morning|afternoon|evening|night|day)|thanks?|thank you|bye|goodbye)\b"
    r"(?:[\s,]+(?:there|all|everybody|again|how are you(?: today| doing)?|very much|so much|a lot|"
    r"that was \w+))*",
    rf"(?:please |can you |could you )*(?:tell|write|compose|sing|create|give)(?: me| us)?"
    rf" (?:an? |some )(?:\w+ )?(?:{_WORKS})\b.*",
    r"who (?:are|made|built|created) you|what(?:'s| is) your name|what can you do|how are you.*|"
    r"are you (?:an? )?(?:human|robot|bot|ai|machine|person|model)\b.*",
    r"translate .+ (?:in)?to \w+",
    r"play (?:some|a|the) \w+.*",
)
_SMALL_TALK = re.compile(rf"(?:{'|'.join(_FORMS)})[\s.!?]*", re.IGNORECASE)


def is_small_talk(text: str) -> bool:
    """Whether the whole text has one of these forms.

    >>> [is_small_talk(text) for text in ("Hello there!", "Write a haiku about autumn.")]
    [True, True]
    >>> [is_small_talk(text) for text in ("Hi, how many orders?", "Give me a list of poems.")]
    [False, False]
    """
    return _SMALL_TALK.fullmatch(text.strip()) is not None

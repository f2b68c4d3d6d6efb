"""The nine languages in which the service answers people, and the one list of their words.

``lexicon.yaml`` has the words; ``detection.py`` recognises a language by them, ``phrases.py`` says
in English what a question in another one contains, and ``english.py`` has the lists for rules that
read English. A text in any other language counts as English, in which the service then speaks.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, get_args

from nl2sql.yaml_file import read_packaged

Language = Literal["en", "de", "fr", "es", "pt", "it", "zh", "ja", "ar"]
LANGUAGES: tuple[Language, ...] = get_args(Language)


@cache
def load_lexicon() -> Mapping[str, Mapping[str, Any]]:
    """The sections of ``lexicon.yaml``, which says what each holds."""
    lexicon: Mapping[str, Mapping[str, Any]] = read_packaged(__package__, "lexicon.yaml")
    return lexicon

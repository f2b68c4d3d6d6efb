"""The lists of the lexicon for the rules that read English."""

from __future__ import annotations

from nl2sql.languages import load_lexicon


def _list_english(section: str) -> dict[str, int]:
    return {
        word.strip(): int(number)
        for number, said in load_lexicon()[section].items()
        for word in said["en"].split(",")
    }


NUMBER_WORDS = _list_english("numbers")
"""Zero to nineteen and the tens, in lower case."""
ORDINAL_WORDS = _list_english("ordinals")
"""First to ninth, in lower case."""
TIMES_WORDS = _list_english("times_said")
"""Once, twice and thrice."""
MONTH_WORDS = _list_english("months")
"""The names of the months and their abbreviations, capitalised."""
MONTHS = tuple(str(said["en"]).split(",")[0] for said in load_lexicon()["months"].values())
"""The twelve names."""
TIME_WORDS = frozenset(str(load_lexicon()["times"]["en"]).split())
"""Words that say that something is about a time."""

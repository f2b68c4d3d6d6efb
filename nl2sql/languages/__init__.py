"""Recognises the language of a question: by its script, or by its function words.

Knows the nine languages in which the service answers people. A text in any other one counts as
English, in which the service then speaks. ``lexicon.py`` has English words for a question's own.
"""

from __future__ import annotations

import re
from typing import Literal, get_args

from nl2sql.words import fold_text

Language = Literal["en", "de", "fr", "es", "pt", "it", "zh", "ja", "ar"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

_KANA = re.compile("[\u3040-\u30ff]")
_IDEOGRAPH = re.compile("[\u4e00-\u9fff]")
_ARABIC = re.compile("[\u0600-\u06ff]")
# Words that questions contain. One that several of these languages share counts for each of them.
_FUNCTION_WORDS: dict[Language, str] = {
    "en": "how many much what which who whose when where why is are was were the of in by for "
    "and with does do did show list give me each per between from than that have has there "
    "hello hi hey thanks thank you tell all total average most as a an at on to or their this",
    "de": "wie viele viel was welche welcher welches welchen welchem wer wann wo warum ist "
    "sind war waren der die das den dem des im in von fur und mit nach bei zu zur zum auf aus "
    "zeige zeig gib mir je pro jede jeder jedes ein eine einen hat haben wir hallo danke guten "
    "gibt es wurden wurde alle durchschnittliche nicht als seit heisst bitte moin",
    "fr": "combien de quel quelle quels quelles qui quand ou pourquoi est sont etait le la les "
    "des du dans par pour et avec montre affiche liste donne moi chaque entre depuis un une "
    "que au aux il y nous avons bonjour salut merci ont a qu en ce sur plus total nombre",
    "es": "cuantos cuantas cuanto cuanta que cual cuales quien quienes cuando donde por es son "
    "era el la los las de del en para y con muestra muestrame lista dame cada entre desde un "
    "una hay tenemos hola gracias hemos se nuestros han mas numero fueron tiene tienen",
    "pt": "quantos quantas quanto quanta que qual quais quem quando onde por e sao era o a os "
    "as de do da dos das em no na nos nas para com mostre liste cada entre desde um uma ha "
    "temos ola obrigado obrigada foram tem nossos mais numero nao ao pelo pela qual",
    "it": "quanti quante quanto quanta che quale quali chi quando dove perche e sono era il lo "
    "la i gli le di del della dei delle degli nel nella nei nelle in per con mostra mostrami "
    "elenca dammi ogni tra fra da un una ci abbiamo ciao grazie hanno ha piu numero al alla",
}
_WORDS = {language: frozenset(words.split()) for language, words in _FUNCTION_WORDS.items()}


def find_language(text: str) -> Language:
    """The language of the text; English if nothing tells.

    >>> [find_language(text) for text in ("Wie viele?", "有多少客户", "客戶はいくつ", "Madrid")]
    ['de', 'zh', 'ja', 'en']
    """
    if _KANA.search(text):
        return "ja"
    if _IDEOGRAPH.search(text):
        return "zh"
    if _ARABIC.search(text):
        return "ar"
    if "¿" in text or "¡" in text:
        return "es"
    words = fold_text(text).split()
    counts = {language: sum(word in known for word in words) for language, known in _WORDS.items()}
    # The first of those with the most.
    return max(counts, key=lambda language: counts[language])

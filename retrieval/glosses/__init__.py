"""Descriptions that a database does not hold itself: words written out, synonyms, kinds, units.

Rules and packaged word lists, so that the same schema always reads the same. No driver, no model.
"""

from retrieval.glosses.build import build_glosses
from retrieval.vocabulary.synonyms import NO_SYNONYMS, Synonyms

__all__ = ["NO_SYNONYMS", "Synonyms", "build_glosses"]

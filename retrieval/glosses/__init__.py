"""Descriptions in addition to the database's comments: expanded names, synonyms, kinds, units.

Made by rules and packaged word lists, so that a schema always gets the same descriptions.
"""

from retrieval.glosses.build import build_glosses
from retrieval.vocabulary.synonyms import NO_SYNONYMS, Synonyms

__all__ = ["NO_SYNONYMS", "Synonyms", "build_glosses"]

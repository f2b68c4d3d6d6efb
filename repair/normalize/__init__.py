"""Dialect normalisation: a query of mixed dialects in the words of the target's."""

from repair.normalize.normalizer import Normalized, normalize_dialect

__all__ = ["Normalized", "normalize_dialect"]

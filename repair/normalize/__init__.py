"""Dialect normalisation: translates a query of mixed dialects into the target's dialect."""

from repair.normalize.normalizer import Normalized, normalize_dialect

__all__ = ["Normalized", "normalize_dialect"]

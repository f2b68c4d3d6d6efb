"""Variants of search: one ranking alone, both fused, with foreign keys, and everything.

Each switches off some settings of the user; all other settings apply to all variants.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from nl2sql.errors import SettingsError
from serve_app.operations.variants import override
from serve_app.settings import Settings

_NO_ROUTER = "flags.module_router=false"
_NO_VALUES = "flags.value_index=false"
_NO_NAMES = "flags.named_tables=false"
_NO_EXPANSION = "retrieval.fk_expansion_limit=0"

VARIANTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "cosine": ("flags.bm25=false", _NO_ROUTER, _NO_VALUES, _NO_NAMES, _NO_EXPANSION),
        "bm25": ("flags.cosine=false", _NO_ROUTER, _NO_VALUES, _NO_NAMES, _NO_EXPANSION),
        "rrf": (_NO_ROUTER, _NO_VALUES, _NO_NAMES, _NO_EXPANSION),
        "rrf+fk": (_NO_ROUTER, _NO_VALUES, _NO_NAMES),
        "full": (),
    }
)
"""Name → overrides of the settings."""


def choose_variants(settings: Settings, names: Sequence[str] = ()) -> dict[str, Settings]:
    """The settings of each named variant, in the order of ``VARIANTS``; no names mean all.

    Raises SettingsError for an unknown name.
    """
    if unknown := [name for name in names if name not in VARIANTS]:
        raise SettingsError(
            f"There is no variant {', '.join(unknown)}.", hint=f"There are: {', '.join(VARIANTS)}."
        )
    return {
        name: override(settings, changes)
        for name, changes in VARIANTS.items()
        if not names or name in names
    }

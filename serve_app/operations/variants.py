"""The runs of a command: changed settings, several K, or a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from nl2sql.errors import SettingsError
from quorumsql.contract.model import CandidateCount
from serve_app.settings import Settings, parse_settings

BASELINE = "plain"


@dataclass(frozen=True, slots=True)
class Variant:
    """One configuration, under the name that reports show."""

    name: str
    settings: Settings
    k: CandidateCount
    baseline: str = ""


def override(settings: Settings, assignments: Sequence[str]) -> Settings:
    """Overrides settings by ``key=value``; a key is ``section.key``, or the name of a flag.

    Values are YAML: ``bm25=false``, ``sampling.temperature=0.5``. Raises SettingsError.
    """
    value = settings.model_dump(mode="json")
    for assignment in assignments:
        key, separator, text = assignment.partition("=")
        path = key.strip().split(".")
        if not separator or not all(path):
            raise SettingsError(
                f"--set {assignment}: this is not KEY=VALUE.",
                hint="For example --set bm25=false or --set sampling.temperature=0.5.",
            )
        if len(path) == 1 and path[0] not in value:
            path = ["flags", *path]
        section: dict[str, Any] = value
        for part in path[:-1]:
            if not isinstance(section.get(part), dict):
                section[part] = {}  # parse_settings reports an unknown section
            section = section[part]
        section[path[-1]] = yaml.safe_load(text)
    return parse_settings(value, where="--set")


def build_variants(
    settings: Settings, counts: Sequence[CandidateCount], baseline: str = ""
) -> tuple[Variant, ...]:
    """The baseline, if one is named, and a variant for each K; the settings' own K without either.

    Raises SettingsError for an unknown baseline.
    """
    if baseline not in ("", BASELINE):
        raise SettingsError(f"There is no baseline {baseline!r}.", hint=f"There is: {BASELINE}.")
    first = (Variant(baseline, settings, 1, baseline),) if baseline else ()
    wanted = dict.fromkeys(counts) if counts or baseline else (settings.sampling.k,)
    return first + tuple(Variant(f"K={k}", settings, k) for k in wanted)

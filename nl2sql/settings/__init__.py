"""The settings that stages read: sections of ``quorumsql.yaml``.

Nothing is read at import. The whole file, with the sections of the service, is in
``serve_app.settings``.
"""

from nl2sql.settings.limits import LimitSettings
from nl2sql.settings.model import ModelSettings
from nl2sql.settings.pipeline import FlagSettings, RetrievalSettings
from nl2sql.settings.stages import StageSettings

__all__ = [
    "FlagSettings",
    "LimitSettings",
    "ModelSettings",
    "RetrievalSettings",
    "StageSettings",
]

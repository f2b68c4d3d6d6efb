"""The settings that stages read: sections of ``quorumsql.yaml``.

Nothing is read at import. The whole file, with the sections of the service, is in
``serve_app.settings``.
"""

from nl2sql.settings.limits import LimitSettings as LimitSettings
from nl2sql.settings.model import ModelSettings as ModelSettings
from nl2sql.settings.pipeline import (
    FlagSettings as FlagSettings,
    RetrievalSettings as RetrievalSettings,
)
from nl2sql.settings.stages import StageSettings as StageSettings

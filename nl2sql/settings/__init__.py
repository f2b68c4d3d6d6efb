"""The settings: one ``quorumsql.yaml``, validated completely before anything starts.

Nothing is read at import. The file contains no secrets: a URL names its user, and ``password_env``
names the environment variable that holds the password. An unknown key is an error that names the
nearest known one.
"""

from nl2sql.settings.limits import LimitSettings
from nl2sql.settings.model import ModelSettings
from nl2sql.settings.pipeline import FlagSettings, IndexSettings, RetrievalSettings
from nl2sql.settings.settings import Settings, load_settings, parse_settings

__all__ = [
    "FlagSettings",
    "IndexSettings",
    "LimitSettings",
    "ModelSettings",
    "RetrievalSettings",
    "Settings",
    "load_settings",
    "parse_settings",
]

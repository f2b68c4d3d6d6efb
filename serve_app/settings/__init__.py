"""The settings: one ``quorumsql.yaml``, validated completely before anything starts.

The file contains no secrets: a URL names its user, and ``password_env`` names the environment
variable that holds the password. An unknown key is an error that names the nearest known one. The
sections that stages read are in ``nl2sql.settings``.
"""

from serve_app.settings.settings import Settings, load_settings, parse_settings

__all__ = ["Settings", "load_settings", "parse_settings"]

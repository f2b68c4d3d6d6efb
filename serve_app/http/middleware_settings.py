"""What the checks before the routes need of the settings, and how Ray's HTTP proxy gets it.

Imports no web framework: the process that starts Ray needs it before all else.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from nl2sql.settings import LimitSettings
from nl2sql.yaml_file import read_yaml
from serve_app.settings import Settings
from serve_app.settings.identity import IdentitySettings
from serve_app.settings.service import PageSettings, ServeSettings

SETTINGS_VARIABLE = "QUORUMSQL_SETTINGS"
_CALLBACK = "serve_app.http.proxy:build_middlewares"
_CALLBACK_VARIABLE = "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH"


class MiddlewareSettings(BaseModel):
    """The sections of ``quorumsql.yaml`` that these checks use."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    identity: IdentitySettings = IdentitySettings()
    limits: LimitSettings = LimitSettings()
    page: PageSettings = PageSettings()
    serve: ServeSettings = ServeSettings()


def pick_middleware_settings(settings: Settings) -> MiddlewareSettings:
    """Those sections of the settings."""
    return MiddlewareSettings(
        identity=settings.identity,
        limits=settings.limits,
        page=settings.page,
        serve=settings.serve,
    )


def read_middleware_settings(path: Path) -> MiddlewareSettings:
    """Reads those sections of a settings file, which may contain others.

    Raises SettingsError if there is no such file, pydantic's ValidationError for its content: the
    service itself reads the same file and reports errors in it better.
    """
    return MiddlewareSettings.model_validate(read_yaml(path))


def prepare_proxy(
    settings: MiddlewareSettings, folder: Path, environ: MutableMapping[str, str] = os.environ
) -> None:
    """Makes the proxies of the Ray that is started next use the middleware.

    Writes the settings to a file in ``folder``; they contain no secrets.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "front.yaml"
    file.write_text(settings.model_dump_json())
    environ[_CALLBACK_VARIABLE] = _CALLBACK
    environ[SETTINGS_VARIABLE] = str(file)

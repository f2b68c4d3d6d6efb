"""How Ray's HTTP proxy gets the settings.

Imports no web framework: the process that starts Ray needs it before all else.
"""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from pathlib import Path

from serve_app.settings import Settings

SETTINGS_VARIABLE = "QUORUMSQL_SETTINGS"
_CALLBACK = "serve_app.http.proxy:build_middlewares"
_CALLBACK_VARIABLE = "RAY_SERVE_HTTP_PROXY_CALLBACK_IMPORT_PATH"


def prepare_proxy(
    settings: Settings, folder: Path, environ: MutableMapping[str, str] = os.environ
) -> None:
    """Makes the proxies of the Ray that is started next use the middleware.

    Writes the settings to a file in ``folder``; they contain no secrets.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "front.yaml"
    file.write_text(settings.model_dump_json())
    environ[_CALLBACK_VARIABLE] = _CALLBACK
    environ[SETTINGS_VARIABLE] = str(file)

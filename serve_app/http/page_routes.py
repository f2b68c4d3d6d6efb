"""The routes that the page uses besides those of questions; other clients may use them too."""

from __future__ import annotations

from fastapi import FastAPI

from nl2sql.settings import Settings
from serve_app.http.history_routes import add_history_routes
from serve_app.http.review_routes import add_review_routes
from serve_app.http.run_routes import add_run_routes
from serve_app.http.schema_routes import add_schema_routes
from serve_app.http.share_routes import add_share_routes
from serve_app.http.sign_in_routes import add_sign_in_routes
from serve_app.http.status_routes import add_status_routes
from serve_app.service.page_services import PageServices


def add_page_routes(app: FastAPI, settings: Settings, page: PageServices) -> None:
    """Adds ``/sign-in``, ``/me``, ``/databases``, ``/run``, ``/conversations`` and others."""
    add_sign_in_routes(app, settings, page.sign_ins, page.profiles)
    add_schema_routes(app, page.schema)
    add_run_routes(app, settings, page.tools, page.shares)
    add_history_routes(app, page.history)
    add_share_routes(app, page.shares)
    add_review_routes(app, page.review)
    add_status_routes(app, page.status)

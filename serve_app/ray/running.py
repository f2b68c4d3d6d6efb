"""Starts and stops the service in this process."""

from __future__ import annotations

import re
import time

import ray
from ray import serve
from ray.serve import Application, RunTarget

from nl2sql.errors import Unavailable
from serve_app.composition.wiring import Wiring
from serve_app.ray.builder import build_application

APPLICATION = "quorumsql"
# How often Serve is asked whether the replicas are ready; it would ask itself each second.
_POLL_S = 0.1
# The last line of a replica's traceback, where the error is one of ours.
_OWN_ERROR = re.compile(r"^nl2sql\.errors\.\w+: (?P<text>.+)$", re.MULTILINE)


def run_application(wiring: Wiring, engine: Application | None = None) -> None:
    """Runs the application in the Serve that was started; returns when every replica is ready.

    ``engine`` replaces the language model's deployment. Raises SettingsError, and Unavailable if a
    replica does not start; then everything is stopped.
    """
    try:
        target = RunTarget(build_application(wiring, engine), APPLICATION, "/")
        serve.run_many([target], wait_for_applications_running=False)
        while (state := serve.status().applications[APPLICATION]).status != "RUNNING":
            if state.status == "DEPLOY_FAILED":
                messages = [deployment.message for deployment in state.deployments.values()]
                reason = find_reason(messages)
                raise Unavailable(
                    f"The service did not start: {reason or state.message}",
                    hint="" if reason else "See Ray's logs in /tmp/ray/session_latest/logs.",
                )
            time.sleep(_POLL_S)
    except BaseException:
        stop_service()
        raise


def stop_service() -> None:
    """Stops the application, and Ray if it was started here."""
    if ray.is_initialized():  # otherwise Serve would start Ray to shut down what is not there
        serve.shutdown()
        ray.shutdown()


def find_reason(messages: list[str]) -> str:
    """The first of our own errors in Serve's messages; empty if there is none.

    >>> find_reason(["", "Traceback …\\nnl2sql.errors.EngineUnavailable: It has died.\\n"])
    'It has died.'
    """
    found = (_OWN_ERROR.search(message) for message in messages)
    return next((match["text"].strip() for match in found if match), "")

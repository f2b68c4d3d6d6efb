"""The deployments of the application, as ``GET /status`` shows them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ray import serve

from quorumsql.contract.service_status import DeploymentResponse


async def list_deployments() -> Sequence[DeploymentResponse]:
    """Those of the application that this replica belongs to; called inside of a replica."""
    name = serve.get_replica_context().app_name
    # In a thread, because Ray's call blocks.
    status = await asyncio.to_thread(serve.status)
    application = status.applications.get(name)
    if application is None:
        return ()
    return [
        DeploymentResponse(
            name=deployment,
            replicas=overview.replica_states.get("RUNNING", 0),
            state=overview.status.value,
        )
        for deployment, overview in application.deployments.items()
    ]

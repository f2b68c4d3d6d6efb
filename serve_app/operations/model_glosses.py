"""Makes the model describe columns without a description, before an index is built."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import cast

from nl2sql.protocols import Engine
from retrieval.glosses.model_glosses import find_missing, write_glosses
from retrieval.index_store.gloss_store import GlossStore
from serve_app.composition.lasting_engine import LastingEngine, PatientEngine
from serve_app.composition.wiring import Wiring
from serve_app.reporting import Reporter


async def write_model_glosses(
    wiring: Wiring, names: Sequence[str], reporter: Reporter, *, engine: Engine | None = None
) -> int:
    """Writes glosses for the named databases and returns how many columns were described.

    Loads the configured model only if a description is missing; ``engine`` replaces it. Waits for
    an engine that has died.
    Raises DatabaseUnavailable, IndexUnavailable, ModelError, EngineUnavailable.
    """
    store = wiring.build_index_store()
    glosses = GlossStore(store)
    loaded: LastingEngine | None = None
    described = 0
    try:
        await store.prepare()
        for name in names:
            catalog = await asyncio.to_thread(wiring.source(name).read_catalog)
            if not any(True for _ in find_missing(catalog, await glosses.load(name))):
                continue
            if engine is None:
                with reporter.step("Language model"):
                    # In this thread, because the engine is bound to the event loop that opens it.
                    loaded = LastingEngine(wiring.models.open_engine)
                    engine = cast(Engine, loaded)
            patient = PatientEngine(engine, reporter.warn)
            with reporter.step(f"Glosses of {name}") as step:
                count = await write_glosses(catalog, patient, glosses, progress=step.update)
                step.finish(f"{count:,} columns described")
                described += count
    finally:
        await store.close()
        if loaded is not None:
            await loaded.close()
    return described

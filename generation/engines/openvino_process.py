"""The program that runs a model by OpenVINO GenAI, started by ``openvino_engine.py``.

Talks over a socket in lines of JSON: reads its settings, loads the model, writes a line, then reads
requests and writes tokens as they come. Ends when the socket closes, which happens when the process
that started it ends in any way. A crash of the library ends only this process.

It is run by its path and imports nothing of the product. One thread: the library keeps Python's
lock during a step, so the socket is read between steps.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
from collections.abc import Iterator
from typing import Any

# After each part of a prompt, other requests proceed and cancellations are noticed: every second on
# slow cores. Smaller parts cost more for each token.
_PART_TOKENS = 256
_BLOCK_TOKENS = 32
_READ_BYTES = 1 << 16


class _Request:
    """The answers to one prompt: a sequence for each, after the first has read the prompt.

    The library gives tokens while they come only for requests with a single sequence.
    """

    def __init__(self, pipe: Any, message: dict[str, Any]) -> None:
        import numpy
        import openvino

        self._pipe = pipe
        self._message = message
        ids = numpy.array(message["ids"], numpy.int64).reshape(1, -1)
        self._ids = openvino.Tensor(ids)
        self._handles: dict[int, Any] = {}
        self.prompt_tokens_read = 0
        self.has_begun = False
        self._add(0)

    @property
    def number(self) -> int:
        return int(self._message["id"])

    @property
    def prompt_tokens(self) -> int:
        return len(self._message["ids"])

    @property
    def running(self) -> int:
        return len(self._handles)

    def read(self) -> list[list[Any]]:
        """The new ``[index, tokens, whether it ends]``."""
        found = []
        for index, handle in list(self._handles.items()):
            outputs = handle.read() if handle.can_read() else {}
            ends = handle.get_status().name != "RUNNING" and not handle.can_read()
            if handle.get_status().name == "IGNORED":
                raise MemoryError("the cache has no room for this prompt")
            for output in outputs.values():
                found.append([index, output.generated_ids, ends])
            if not outputs and ends:
                found.append([index, [], True])
            if ends:
                del self._handles[index]
        if found and not self.has_begun:
            self.has_begun = True
            for index in range(1, self._message["k"]):
                self._add(index)
        return found

    def cancel(self) -> None:
        for handle in self._handles.values():
            handle.cancel()
        self._handles.clear()

    def _add(self, index: int) -> None:
        import openvino_genai

        base = self._pipe.get_config()
        config = openvino_genai.GenerationConfig()
        config.eos_token_id, config.stop_token_ids = base.eos_token_id, base.stop_token_ids
        config.max_new_tokens = self._message["max_tokens"]
        config.do_sample = self._message["temperature"] > 0
        if config.do_sample:
            config.temperature = self._message["temperature"]
        config.rng_seed = self._message["seed"] + index
        config.stop_strings = set(self._message["stop"])
        # The other process cuts the text, because a stop string may begin within a token.
        config.include_stop_str_in_output = True
        # Every sequence is a request of its own for the library.
        number = self._message["first"] + index
        self._handles[index] = self._pipe.add_request(number, self._ids, config)


class _Channel:
    """Lines of JSON over the socket."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._rest = b""

    def read(self, *, wait: bool) -> Iterator[dict[str, Any]]:
        """The messages that have come; with ``wait`` at least one. Ends the process at the end."""
        while wait or select.select([self._connection], [], [], 0)[0]:
            read = self._connection.recv(_READ_BYTES)
            if not read:
                # Skips the destructors, which would wait for abandoned requests.
                os._exit(0)
            *lines, self._rest = (self._rest + read).split(b"\n")
            yield from map(json.loads, lines)
            wait = wait and not lines

    def write(self, message: dict[str, Any]) -> None:
        try:
            self._connection.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            os._exit(0)


def _load(settings: dict[str, Any]) -> Any:
    import openvino_genai

    scheduler = openvino_genai.SchedulerConfig()
    scheduler.num_kv_blocks = -(-settings["cache_tokens"] // _BLOCK_TOKENS)
    scheduler.max_num_batched_tokens = _PART_TOKENS
    scheduler.max_num_seqs = settings["slots"]
    # Prompts with the same beginning, above all the answers to one question, compute it once.
    scheduler.enable_prefix_caching = True
    # Two of its threads that look for stop strings have waited for each other for ever (2026.4.1).
    # With two cores one is as fast.
    properties = {**settings["properties"], "sampler_num_threads": 1}
    return openvino_genai.ContinuousBatchingPipeline(
        settings["folder"], scheduler, "CPU", properties
    )


def _pack_weights(pipe: Any) -> None:
    """Reads one token: in its first step the library packs the weights, which takes a second."""
    message = {"first": 0, "ids": [0], "k": 1, "seed": 0, "temperature": 0, "max_tokens": 1}
    request = _Request(pipe, message | {"stop": ()})
    while request.running:
        pipe.step()
        request.read()


def _serve(pipe: Any, channel: _Channel) -> None:
    requests: dict[int, _Request] = {}
    while True:
        for message in channel.read(wait=not pipe.has_non_finished_requests()):
            number = message["id"]
            if "ids" in message:
                try:
                    requests[number] = _Request(pipe, message)
                except Exception as error:  # of this request, not of the others
                    channel.write({"id": number, "error": str(error)})
            elif "cancel" in message:
                if (request := requests.pop(number, None)) is not None:
                    request.cancel()
                channel.write({"id": number})
            else:
                running = sum(request.running for request in requests.values())
                channel.write({"id": number, "running": running})
        if pipe.has_non_finished_requests():
            _count_read(requests.values(), _PART_TOKENS)
            pipe.step()
        for request in list(requests.values()):
            _report(request, channel)
            if not request.running:
                del requests[request.number]


def _report(request: _Request, channel: _Channel) -> None:
    begun = request.has_begun
    try:
        outputs = request.read()
    except MemoryError as error:
        request.cancel()
        channel.write({"id": request.number, "error": str(error)})
        return
    if outputs or not begun:
        read = request.prompt_tokens if request.has_begun else request.prompt_tokens_read
        told = {"id": request.number, "read": read, "outputs": outputs, "ends": not request.running}
        channel.write(told)


def _count_read(requests: Any, tokens: int) -> None:
    """Counts the part of the prompts that the next step reads, in order of their arrival.

    The library does not say it. What is in its cache is not read, so this is a lower bound.
    """
    tokens -= sum(request.running for request in requests if request.has_begun)
    for request in requests:
        if not request.has_begun:
            part = min(max(tokens, 0), request.prompt_tokens - request.prompt_tokens_read)
            request.prompt_tokens_read += part
            tokens -= part


def _main() -> None:
    connection = socket.socket(fileno=int(sys.argv[1]))
    channel = _Channel(connection)
    (settings,) = channel.read(wait=True)
    try:
        pipe = _load(settings)
    except Exception as error:  # the library raises RuntimeError for everything
        sys.exit(f"{type(error).__name__}: {error}")
    channel.write({"id": 0})
    # Nobody waits for this: the first question is still to come.
    _pack_weights(pipe)
    _serve(pipe, channel)


if __name__ == "__main__":
    _main()

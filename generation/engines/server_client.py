"""Sends requests through a vendor's client: limits their number and translates errors.

The clients ``openai`` and ``anthropic`` were made by the same generator, so their methods and
errors have the same names. The caller passes the client's module; none is imported here.
"""

from __future__ import annotations

import asyncio
from typing import Any

from generation.engines.optional_fields import RequestRefused
from generation.engines.server import (
    build_nonsense,
    build_timeout,
    build_unreachable,
    translate_status,
)
from nl2sql.errors import PromptTooLong
from nl2sql.settings import ModelSettings

# For requests about the server itself, which it answers in milliseconds.
_QUICK_TIMEOUT_S = 10.0


class ServerClient:
    """A server that gets at most ``model.concurrency`` requests at a time."""

    def __init__(
        self, settings: ModelSettings, client: Any, vendor: Any, base_error: type[Exception]
    ) -> None:
        """``vendor`` is the client's module, ``base_error`` the base class of its errors."""
        self._settings = settings
        self._client = client
        self._vendor = vendor
        self._base_error = base_error
        self._quick = client.with_options(timeout=_QUICK_TIMEOUT_S, max_retries=0)
        self._slots = asyncio.Semaphore(settings.concurrency)
        self.in_flight = 0

    async def request(
        self, url: str, body: dict[str, Any] | None = None, *, quick: bool = False
    ) -> object:
        """The answer's JSON, or its text if it is not JSON. Without a ``body``, a GET request.

        ``quick``: a timeout of 10 s and no retries. Raises RequestRefused, PromptTooLong,
        EngineUnavailable, SettingsError.
        """
        client, vendor = self._quick if quick else self._client, self._vendor
        async with self._slots:
            self.in_flight += 1
            try:
                if body is None:
                    answer: object = await client.get(url, cast_to=object)
                else:
                    answer = await client.post(url, cast_to=object, body=body)
                return answer
            except vendor.APIStatusError as error:
                raise self._translate(error) from error
            except vendor.APITimeoutError as error:
                raise build_timeout(self._settings) from error
            except vendor.APIConnectionError as error:
                raise build_unreachable(self._settings) from error
            except (self._base_error, ValueError) as error:
                # The answer claims to be JSON and is not.
                raise build_nonsense(self._settings) from error
            finally:
                self.in_flight -= 1

    async def close(self) -> None:
        """Closes the connections."""
        await self._client.close()

    def _translate(self, error: Any) -> Exception:
        # Only OpenAI's errors have a code and the refused field.
        code = str(getattr(error, "code", None) or "")
        known = translate_status(self._settings, error.status_code, error.message, code)
        if error.status_code in (400, 422) and not isinstance(known, PromptTooLong):
            return RequestRefused(known, field=getattr(error, "param", None) or "")
        return known

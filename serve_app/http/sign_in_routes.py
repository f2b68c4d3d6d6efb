"""``/sign-in``, ``/sign-out`` and ``/me``: who asks, for the page."""

from __future__ import annotations

import logging
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field
from starlette.responses import RedirectResponse

from nl2sql.errors import LimitReached, Unauthenticated, Unavailable
from nl2sql.types import Principal
from quorumsql.contract.identity import PrincipalResponse
from quorumsql.contract.model import RequestModel, ResponseModel
from serve_app.http.identification import CALLBACK, PROVIDER, SIGN_IN, SIGN_OUT
from serve_app.http.route_parts import TOO_LARGE, Caller, Responses, describe_response, render_model
from serve_app.http.sign_in_cookie import PENDING_NAME, read_cookie, set_cookie, set_pending_cookie
from serve_app.service.identity.sign_ins import HOME, SignIns, begin_sign_in, read_pending_sign_in
from serve_app.service.identity.static_tokens import SignInMethod, list_sign_in_methods
from serve_app.service.profile import ProfileService
from serve_app.service.request_checks import NotFound
from serve_app.settings import Settings

_LOG = logging.getLogger("quorumsql")


class SignInMethodsResponse(ResponseModel):
    """How to sign in."""

    needed: bool = Field(description="Whether requests need a token or a sign-in.")
    methods: list[SignInMethod] = Field(
        description="`key`: an API key or another token by `POST /sign-in`; `provider`: by `GET "
        "/sign-in/provider`. Empty: not needed, or not possible."
    )


class SignInRequest(RequestModel):
    """The body of ``POST /sign-in``."""

    token: str = Field(
        min_length=1, max_length=16_384, description="An API key, a static or a signed token."
    )


class SignOutRequest(RequestModel):
    """The body of ``POST /sign-out``."""

    everywhere: bool = Field(False, description="End all sign-ins of the principal's name.")


_METHODS = describe_response("How.", SignInMethodsResponse)
_OWN_PAGES: Responses = {403: {"description": "A page of another origin sent this."}, **TOO_LARGE}
_SIGNED_IN: Responses = {
    **describe_response("Signed in; the cookie identifies further requests.", status=204),
    **_OWN_PAGES,
    404: {"description": "Requests need no token, or the page is switched off."},
    429: {"description": "Too many wrong tokens; Retry-After says when to go on."},
}
_SIGNED_OUT: Responses = {
    **describe_response("Signed out; the cookie is deleted.", status=204),
    **_OWN_PAGES,
    401: {"description": "With `everywhere`: nobody is signed in."},
}
_ME = describe_response("The principal.", PrincipalResponse)


def build_sign_in_router(
    settings: Settings, sign_ins: SignIns | None, profiles: ProfileService
) -> APIRouter:
    """The routes. Without ``sign_ins`` nobody can sign in."""
    router = APIRouter()
    public_url = settings.serve.public_url

    def find_sign_ins() -> SignIns:
        if sign_ins is None:
            raise NotFound("Nobody needs to sign in here, or nobody can.", field="path")
        return sign_ins

    def is_secure(request: Request) -> bool:
        # Behind a proxy that ends TLS, the request itself came over plain HTTP.
        return request.url.scheme == "https" or public_url.startswith("https://")

    def find_callback(request: Request) -> str:
        own = public_url or f"{request.url.scheme}://{request.headers['host']}"
        return own + CALLBACK

    @router.get(SIGN_IN, summary="How to sign in", responses=_METHODS)
    async def list_methods() -> Response:
        methods = list_sign_in_methods(settings.identity, settings.page)
        needed = settings.identity.needs_token
        return render_model(SignInMethodsResponse(needed=needed, methods=list(methods)))

    @router.post(SIGN_IN, summary="Sign in", status_code=204, responses=_SIGNED_IN)
    async def sign_in(body: SignInRequest, request: Request) -> Response:
        known = find_sign_ins()
        cookie, lasts_s = await known.sign_in(body.token.strip(), find_address(request))
        await known.end(read_cookie(request.scope))
        response = Response(status_code=204)
        set_cookie(response, cookie, lasts_s=lasts_s, is_secure=is_secure(request))
        return response

    @router.post(SIGN_OUT, summary="Sign out", status_code=204, responses=_SIGNED_OUT)
    async def sign_out(body: SignOutRequest, request: Request) -> Response:
        cookie = read_cookie(request.scope)
        if sign_ins is not None and body.everywhere:
            principal: Principal | None = request.state.principal
            await sign_ins.end_all(principal or await sign_ins.identify(cookie))
        elif sign_ins is not None:
            await sign_ins.end(cookie)
        response = Response(status_code=204)
        set_cookie(response, "", lasts_s=0, is_secure=is_secure(request))
        return response

    # Both for browsers alone, which they redirect: no part of the interface for programs.
    @router.get(PROVIDER, include_in_schema=False)
    async def begin(
        request: Request, place: Annotated[str, Query(alias="next")] = HOME
    ) -> Response:
        pending = begin_sign_in(place)
        try:
            provider = find_sign_ins().find_provider()
            address = await provider.build_address(pending, find_callback(request))
        except Unavailable as error:
            return refuse(error)
        response = redirect(address)
        set_pending_cookie(response, pending.write(), is_secure=is_secure(request))
        return response

    @router.get(CALLBACK, include_in_schema=False)
    async def finish(request: Request) -> Response:
        known = find_sign_ins()
        pending = read_pending_sign_in(read_cookie(request.scope, PENDING_NAME))
        returned = dict(request.query_params)
        try:
            cookie, lasts_s = await known.finish(
                pending, find_callback(request), returned, find_address(request)
            )
            await known.end(read_cookie(request.scope))
        except (Unauthenticated, Unavailable, LimitReached) as error:
            response = refuse(error, is_cancelled=returned.get("error") == "access_denied")
        else:
            response = redirect(pending.place if pending else HOME)
            set_cookie(response, cookie, lasts_s=lasts_s, is_secure=is_secure(request))
        set_pending_cookie(response, "", is_secure=is_secure(request))
        return response

    @router.get("/me", summary="Who am I?", responses=_ME)
    async def me(request: Request, principal: Caller) -> Response:
        is_token = "authorization" in request.headers
        return render_model(await profiles.describe(principal, "token" if is_token else "cookie"))

    return router


def find_address(request: Request) -> str:
    """The client's address; empty if the server does not tell it."""
    return request.client.host if request.client else ""


def redirect(address: str) -> Response:
    """Redirects without a Referer header: the address of the request may contain a code."""
    return RedirectResponse(address, status_code=303, headers={"Referrer-Policy": "no-referrer"})


def refuse(error: Exception, *, is_cancelled: bool = False) -> Response:
    """Back to the page, which says in short what happened; the log has the details."""
    reason = "cancelled" if is_cancelled else "refused"
    if isinstance(error, Unavailable | LimitReached):
        reason = "unavailable" if isinstance(error, Unavailable) else "too_many"
    _LOG.warning("sign-in at the identity provider: %s: %s", reason, error)
    return redirect("/?" + urlencode({"sign_in": reason}))

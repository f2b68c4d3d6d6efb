"""``/sign-in``, ``/sign-out`` and ``/me``: who asks, for the page."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response

from nl2sql.errors import InvalidRequest
from nl2sql.settings import Settings
from quorumsql.contract.identity import (
    PrincipalResponse,
    SignedOutResponse,
    SignInMethodsResponse,
    SignInRequest,
    SignOutRequest,
)
from serve_app.http.callers import Caller
from serve_app.http.identification import SIGN_IN
from serve_app.http.route_answers import describe_responses, render_model
from serve_app.http.sign_in_cookie import read_cookie, write_cookie
from serve_app.service.identity.sign_ins import SignIns
from serve_app.service.profile import ProfileService

_METHODS = describe_responses("How to sign in.", SignInMethodsResponse)
_SIGNED_IN = describe_responses(
    "Signed in; the cookie identifies further requests of the page.", None, 401, status=204
)
_SIGNED_OUT = describe_responses("Signed out.", SignedOutResponse)
_ME = describe_responses("The principal.", PrincipalResponse, 401)


def add_sign_in_routes(
    app: FastAPI, settings: Settings, sign_ins: SignIns | None, profiles: ProfileService
) -> None:
    """Adds the routes. Without ``sign_ins`` nobody can sign in."""

    def is_secure(request: Request) -> bool:
        # Behind a proxy that ends TLS, the request itself came over plain HTTP.
        return request.url.scheme == "https" or settings.serve.public_url.startswith("https://")

    @app.get(SIGN_IN, summary="How to sign in", responses=_METHODS)
    async def list_methods() -> Response:
        return render_model(
            SignInMethodsResponse(
                needed=settings.identity.needs_token, methods=["key"] if sign_ins else []
            )
        )

    @app.post(SIGN_IN, summary="Sign in", status_code=204, responses=_SIGNED_IN)
    async def sign_in(body: SignInRequest, request: Request) -> Response:
        if sign_ins is None:
            raise InvalidRequest("Requests need no token here.", field="token")
        cookie, lasts_s = await sign_ins.sign_in(body.token.strip())
        header = write_cookie(cookie, lasts_s=lasts_s, is_secure=is_secure(request))
        return Response(status_code=204, headers={"Set-Cookie": header})

    @app.post("/sign-out", summary="Sign out", responses=_SIGNED_OUT)
    async def sign_out(body: SignOutRequest, request: Request, principal: Caller) -> Response:
        cookie, ended = read_cookie(request.scope), 0
        if sign_ins is not None and body.everywhere:
            ended = await sign_ins.end_all(principal)
        elif sign_ins is not None and cookie:
            ended = await sign_ins.end(cookie)
        response = render_model(SignedOutResponse(ended=ended))
        gone = write_cookie("", lasts_s=0, is_secure=is_secure(request))
        response.headers["Set-Cookie"] = gone
        return response

    @app.get("/me", summary="Who am I?", responses=_ME)
    async def me(request: Request, principal: Caller) -> Response:
        is_token = "authorization" in request.headers
        return render_model(await profiles.describe(principal, "token" if is_token else "cookie"))

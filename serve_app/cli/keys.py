"""``quorumsql keys``: API keys of principals over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
import yaml

from nl2sql.errors import SettingsError, UnknownDatabase
from nl2sql.types import Entitlement, Principal, UsageLimits
from nl2sql.yaml_file import check_yaml
from retrieval.index_store.credentials import ApiKey, ApiKeyStore
from serve_app.cli.context import CliContext
from serve_app.cli.index import call_index
from serve_app.cli.output import Output, prints
from serve_app.cli.terminal import ERRORS
from serve_app.settings import Settings
from serve_app.settings.identity import LOCAL, PrincipalSettings

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)

_COLUMNS = ("id", "principal", "roles", "databases", "state", "expires_at", "last_used_at")

KeyId = Annotated[str, typer.Argument(help="The id, as `keys list` shows it.")]
Limit = Annotated[int | None, typer.Option(min=0, help="In place of the setting; 0: no limit.")]


@app.command("create")
@prints
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The principal's name.")],
    role: Annotated[
        list[str] | None,
        typer.Option(help="A role of the policy files; repeat. Default: those in the settings."),
    ] = None,
    attribute: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE for row filters, such as region_ids=[1,2]; repeat."),
    ] = None,
    database: Annotated[
        list[str] | None, typer.Option(help="A database that it may ask; repeat. Default: all.")
    ] = None,
    expires_days: Annotated[
        float, typer.Option(min=0, help="Days until it expires; 0: never.")
    ] = 90,
    requests_per_minute: Limit = None,
    questions_at_once: Limit = None,
    tokens_per_day: Limit = None,
    rows_per_day: Limit = None,
) -> Output:
    """Make an API key and print it, once. Only its SHA-256 is stored."""
    cli: CliContext = context.obj
    limits = UsageLimits(requests_per_minute, questions_at_once, tokens_per_day, rows_per_day)
    principal = build_principal(
        cli.settings, name, role or (), attribute or (), tuple(database or ()), limits
    )
    record, key = call_index(
        cli.settings,
        lambda _, store: ApiKeyStore(store).create(principal, valid_days=expires_days or None),
    )
    described = _describe(record)
    message = f"API key {record.id} of {name}, expires: {described['expires_at'] or 'never'}."
    return Output({**described, "key": key}, lambda: _print_key(cli.settings, message, key))


@app.command("list")
@prints
def list_(context: typer.Context) -> Output:
    """List API keys: whose they are, their state and last use. The keys are not stored."""
    cli: CliContext = context.obj
    found = call_index(cli.settings, lambda _, store: ApiKeyStore(store).list_all())
    return Output([_describe(key) for key in found], columns=_COLUMNS)


@app.command("revoke")
@prints
def revoke(context: typer.Context, key_id: KeyId) -> Output:
    """End an API key at once. A service refuses it from its next request on."""
    cli: CliContext = context.obj
    call_index(cli.settings, lambda _, store: ApiKeyStore(store).revoke(key_id))
    return Output({"id": key_id, "state": "revoked"}, f"{key_id} is revoked.")


def build_principal(
    settings: Settings,
    name: str,
    roles: Sequence[str],
    attributes: Sequence[str],
    databases: tuple[str, ...],
    limits: UsageLimits,
) -> Principal:
    """The principal of a new key.

    Roles and attributes are those of the settings where none are given and the name is known there;
    so are the databases. Raises SettingsError, UnknownDatabase.
    """
    if name == LOCAL or not name.strip() or not name.isprintable():
        raise SettingsError(f"{name!r} cannot be the name of an API key's principal.")
    known = settings.identity.principals.get(name, PrincipalSettings())
    for database in databases:
        if database not in settings.by_name:
            raise UnknownDatabase(database, tuple(settings.by_name))
    pairs = _read_attributes(attributes)
    if roles or pairs:
        given = {"roles": roles, "attributes": pairs, "databases": known.databases}
        known = check_yaml(given, PrincipalSettings, where="--attribute")
    access = Entitlement(databases=databases or known.databases, limits=limits)
    return Principal(name, known.roles, tuple(known.attributes.items()), access)


def _read_attributes(texts: Sequence[str]) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise typer.BadParameter(f"--attribute {text}: it is NAME=VALUE.")
        try:
            pairs[name] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise typer.BadParameter(f"--attribute {text}: the value is not YAML.") from error
    return pairs


def _print_key(settings: Settings, message: str, key: str) -> None:
    ERRORS.print(f"{message} It is shown only now:", markup=False)
    # Alone on stdout, so that it can be piped into a secret store.
    typer.echo(key)
    if not settings.identity.api_keys:
        text = "The service accepts API keys only with `identity.api_keys: true`."
        ERRORS.print(text, style="yellow", markup=False)


def _describe(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.id,
        "principal": key.principal.name,
        "roles": list(key.principal.roles),
        "attributes": dict(key.principal.attributes),
        "databases": list(key.principal.access.databases),
        "limits": asdict(key.principal.access.limits),
        "state": key.describe_state(datetime.now(UTC)),
        "created_at": _write_time(key.created_at),
        "expires_at": _write_time(key.expires_at),
        "last_used_at": _write_time(key.last_used_at),
        "revoked_at": _write_time(key.revoked_at),
    }


def _write_time(time: datetime | None) -> str | None:
    return time.astimezone(UTC).isoformat(timespec="seconds") if time else None

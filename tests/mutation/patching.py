"""Puts a mutant into the modules that this process has loaded already.

Importing the guard and collecting its tests takes seconds, putting another body into one of its
functions a millisecond, so mutants are tried in forks of a process that has done both. Only what
can be exchanged exactly is: the body of a function, a constant of a module, an allowlist. For all
else there is ``fresh.py``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import PurePath
from types import FunctionType, ModuleType
from typing import Any

import yaml

from execution import allowlists
from tests.mutation.mutant import ROOT, Mutant
from tests.mutation.targets import name_module

_PROJECT = ("execution", "nl2sql", "retrieval", "serve_app", "tests")
_FLAGS = annotations.compiler_flag

Statement = ast.stmt


class CannotPatch(Exception):
    """The mutant is in something that other objects were made of when its module was imported."""


def patch_modules(mutant: Mutant, source: bytes) -> bool:
    """Whether no other object can have kept the original. Raises CannotPatch, SyntaxError."""
    if mutant.path.endswith(".yaml"):
        _patch_allowlist(mutant, source)
        return True
    module = sys.modules[name_module(mutant.path)]
    before, after = ast.parse(source), ast.parse(mutant.apply(source))
    owner: Any = module
    body, changed = before.body, after.body
    while True:
        at = _find_difference(body, changed)
        if not (
            isinstance(old := body[at], ast.ClassDef) and isinstance(changed[at], ast.ClassDef)
        ):
            break
        new_class = changed[at]
        assert isinstance(new_class, ast.ClassDef)
        owner = owner.__dict__[old.name]
        body, changed = old.body, new_class.body
    new = changed[at]
    if isinstance(new, ast.FunctionDef | ast.AsyncFunctionDef):
        _exchange_function(_unwrap(owner.__dict__[new.name]), new, module)
        _clear_caches()
        # Functions and constants that it made before, such as the entries of a table, are as they
        # were.
        return not _makes_functions(new) and not _is_called_on_import(new.name, before.body)
    if owner is not module or not isinstance(new, ast.Assign | ast.AnnAssign):
        raise CannotPatch(mutant.key)
    is_exact = _exchange_constant(new, changed[at + 1 :], module)
    _clear_caches()
    return is_exact


def _makes_functions(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    makers = (ast.AsyncFunctionDef, ast.FunctionDef, ast.Lambda)
    return any(
        isinstance(node, makers) for statement in function.body for node in ast.walk(statement)
    )


def _is_called_on_import(name: str, body: list[Statement]) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
        for statement in body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for node in ast.walk(statement)
    )


def _find_difference(before: list[Statement], after: list[Statement]) -> int:
    if len(before) != len(after):
        raise CannotPatch("statements were added or taken away")
    differing = [
        at
        for at, (old, new) in enumerate(zip(before, after, strict=True))
        if ast.dump(old) != ast.dump(new)
    ]
    if len(differing) != 1:
        raise CannotPatch(f"{len(differing)} statements differ")
    return differing[0]


def _unwrap(value: Any) -> FunctionType:
    if isinstance(value, property):
        value = value.fget
    while not isinstance(value, FunctionType):
        value = getattr(value, "__wrapped__", None) or getattr(value, "__func__", None)
        if value is None:
            raise CannotPatch("no function of Python's")
    function: FunctionType = value
    while isinstance(inner := getattr(function, "__wrapped__", None), FunctionType):
        function = inner
    return function


def _exchange_function(
    old: FunctionType, new: ast.FunctionDef | ast.AsyncFunctionDef, module: ModuleType
) -> None:
    new.decorator_list = []
    names = old.__code__.co_freevars
    factory = ast.parse(f"def _make({', '.join(names)}):\n    pass\n    return {new.name}")
    make = factory.body[0]
    assert isinstance(make, ast.FunctionDef)
    make.body[0] = new
    namespace = dict(vars(module))
    _run(factory.body, namespace)
    made = namespace["_make"](*(None for _ in names))
    if made.__code__.co_freevars != names:
        raise CannotPatch("it reaches other names around it")
    old.__code__ = made.__code__
    old.__defaults__ = made.__defaults__
    old.__kwdefaults__ = made.__kwdefaults__


def _exchange_constant(
    new: ast.Assign | ast.AnnAssign, following: list[Statement], module: ModuleType
) -> bool:
    """Exchanges the constant and what later constants of the module are made of it.

    False where something else may have been: a default, a class, another module.
    """
    namespace = dict(vars(module))
    _run([new], namespace)
    names = set(_list_targets(new))
    for statement in following:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and names & _list_names(statement):
            _run([statement], namespace)
            names |= set(_list_targets(statement))
    for name in names:
        setattr(module, name, namespace[name])
    is_imported = any(
        names & vars(other).keys() for other in _list_modules() if other is not module
    )
    return not is_imported and not any(
        names & _list_early_names(statement) for statement in following
    )


def _list_early_names(statement: Statement) -> set[str]:
    """The names that a definition reads when its module is imported."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        early = [*statement.decorator_list, *statement.args.defaults, *statement.args.kw_defaults]
        return {name for node in early if node is not None for name in _list_names(node)}
    return _list_names(statement) if isinstance(statement, ast.ClassDef) else set()


@cache
def _read_lists() -> dict[str, Any]:
    """All allowlists, read before the forks because reading them takes long."""
    folder = ROOT / "execution" / "allowlists"
    return {path.stem: _parse_list(path.read_bytes()) for path in folder.glob("*.yaml")}


def _parse_list(text: bytes) -> Any:
    return yaml.load(text, yaml.CSafeLoader)


def _patch_allowlist(mutant: Mutant, source: bytes) -> None:
    changed = {**_read_lists(), PurePath(mutant.path).stem: _parse_list(mutant.apply(source))}
    vars(allowlists)["_read"] = changed.__getitem__
    allowlists.load_allowlist.cache_clear()


def prepare() -> None:
    """Does once what takes long, before the forks."""
    for dialect in ("postgres", "sqlite", "duckdb"):
        allowlists.load_allowlist(dialect)
    _read_lists()


def _run(statements: list[Statement], namespace: dict[str, Any]) -> None:
    tree = ast.fix_missing_locations(ast.Module(statements, []))
    exec(compile(tree, "<mutant>", "exec", flags=_FLAGS, dont_inherit=True), namespace)


def _list_targets(statement: ast.Assign | ast.AnnAssign) -> Iterator[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _list_names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _list_modules() -> list[ModuleType]:
    return [
        module
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in _PROJECT and isinstance(module, ModuleType)
    ]


def _clear_caches() -> None:
    """Empties the caches, whose old entries would hide the mutant."""
    for module in _list_modules():
        # The allowlists take long to read, and are no function's result.
        if module.__name__.startswith("execution") and "allowlists" not in module.__name__:
            for value in list(vars(module).values()):
                clear = getattr(value, "cache_clear", None)
                if clear is not None and getattr(value, "__module__", "") == module.__name__:
                    clear()

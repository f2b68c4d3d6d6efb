"""Builds the language model's engine and the embedder, and locates their weights."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from generation.engines import OpenEngine
from generation.engines.anthropic_engine import AnthropicEngine
from generation.engines.checked_engine import CheckedEngine
from generation.engines.choice import (
    check_processor,
    choose_engine,
    has_gpu,
    read_cpu_flags,
    resolve_model,
)
from generation.engines.openai_engine import OpenAiEngine
from generation.engines.openvino_engine import OpenVinoEngine
from generation.engines.openvino_model import check_model, check_no_adapter, measure_free_memory
from generation.engines.vllm_engine import VllmEngine
from generation.models.adapters import check_adapter, hash_adapter
from generation.models.forms import EMBEDDER, OPENVINO, SAFETENSORS, Form
from generation.models.progress import PullProgress
from generation.models.registry import load_embedder
from generation.models.store import ModelStore
from retrieval.embedding.embedder import Embedder, find_installed_weights
from serve_app.settings import Settings


@dataclass(frozen=True, slots=True)
class Models:
    """The models that the settings name."""

    settings: Settings

    def build_embedder(self) -> Embedder:
        """The embedder; its model is loaded at the first use."""
        return Embedder(self.settings.index.embedder, self.fetch_embedder)

    def fetch_embedder(self, progress: PullProgress | None = None) -> Path:
        """The weights of the default embedding model, fetched if they are missing.

        Raises ModelError.
        """
        with suppress(FileNotFoundError):
            return find_installed_weights()
        folder = self.build_embedder_store(progress).pull(load_embedder().name)
        return next(folder.glob("*.safetensors"))

    def has_embedder(self) -> bool:
        """Whether the default embedding model is on this machine; never uses the network."""
        with suppress(FileNotFoundError):
            return find_installed_weights().exists()
        return self.build_embedder_store().find(load_embedder().name) is not None

    def build_embedder_store(self, progress: PullProgress | None = None) -> ModelStore:
        """The store of the embedding model, if it is not installed as a package."""
        entry, folder = load_embedder(), self.settings.home / "models"
        return ModelStore(folder, EMBEDDER, progress=progress, registry={entry.name: entry})

    def build_model_store(
        self, progress: PullProgress | None = None, *, form: Form | None = None
    ) -> ModelStore:
        """The store of weights under ``home``, in ``form`` or that of the engine used here."""
        form = form or (OPENVINO if self._is_openvino else SAFETENSORS)
        return ModelStore(self.settings.home / "models", form, progress=progress)

    @property
    def adapter(self) -> Path | None:
        """The adapter that the engine here loads."""
        return None if self.settings.model.is_remote else self.settings.model.adapter

    def open_engine(self) -> OpenEngine:
        """The configured engine, which gets nothing but what ``model.send`` allows.

        Fetches the weights if it runs here.

        Raises ModelError, EngineUnavailable; SettingsError for a missing key, or for settings that
        this machine or this model does not support.
        """
        engine, allowed = self._open_engine(), self.settings.model.sends
        return engine if allowed == "rows" else CheckedEngine(engine, allowed)

    def _open_engine(self) -> OpenEngine:
        model = self.settings.model
        if model.engine == "openai":
            return OpenAiEngine(model)
        if model.engine == "anthropic":
            return AnthropicEngine(model)
        folder = self.fetch_weights()
        if self._is_openvino:
            return OpenVinoEngine(folder, model)
        return VllmEngine(folder, model, adapter=self.adapter)

    def fetch_weights(self, progress: PullProgress | None = None) -> Path:
        """Fetches and checks the weights that the engine here loads.

        Raises ModelError, EngineUnavailable, and SettingsError for settings that this machine or
        this model does not support.
        """
        folder = self.build_model_store(progress).pull(self.model_name())
        self.check_weights(folder)
        return folder

    def check_weights(self, folder: Path) -> None:
        """Checks that the engine here can run the weights. Raises as ``fetch_weights``."""
        if self._is_openvino:
            check_processor(read_cpu_flags())
            check_no_adapter(self.adapter)
            check_model(folder, self.settings.model, measure_free_memory())
        elif self.adapter is not None:
            check_adapter(self.adapter, folder)

    def name_samples(self) -> str:
        """The name under which samples are kept: that of the model and of its adapter."""
        if self.adapter is None:
            return self.model_name()
        return f"{self.model_name()} with adapter {hash_adapter(self.adapter)[:16]}"

    @property
    def _is_openvino(self) -> bool:
        return choose_engine(self.settings.model) == "openvino"

    def model_name(self) -> str:
        """The configured model; ``auto`` is the one that suits this machine."""
        return resolve_model(self.settings.model, on_gpu=has_gpu()).name

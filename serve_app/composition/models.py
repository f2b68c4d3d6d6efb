"""The language model's engine, the embedder, and where their weights are."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from generation.engines import OpenEngine
from generation.engines.anthropic_engine import AnthropicEngine
from generation.engines.choice import choose_engine, has_gpu, read_cpu_flags, resolve_model
from generation.engines.llama_checks import check_model, measure_free_memory
from generation.engines.llama_engine import LlamaEngine
from generation.engines.llama_server import check_processor, check_system
from generation.engines.openai_engine import OpenAiEngine
from generation.engines.vllm_engine import VllmEngine
from generation.models.forms import EMBEDDER, GGUF, SAFETENSORS, find_weights
from generation.models.registry import load_embedders
from generation.models.store import ModelStore, ProgressReporter
from nl2sql.settings import Settings
from retrieval.embedding.embedder import Embedder, find_installed_weights


@dataclass(frozen=True, slots=True)
class Models:
    """The models that the settings name."""

    settings: Settings

    def build_embedder(self) -> Embedder:
        """The embedder; its model loads at the first use."""
        return Embedder(self.settings.index.embedder, self.fetch_embedder)

    def fetch_embedder(self, progress: ProgressReporter | None = None) -> Path:
        """The weights of the default embedding model, fetched where they are not here.

        Raises ModelError.
        """
        with suppress(FileNotFoundError):
            return find_installed_weights()
        (name,) = load_embedders()
        return next(self.build_embedder_store(progress).pull(name).glob("*.safetensors"))

    def find_embedder(self) -> Path | None:
        """The default embedding model if it is here; never touches the network."""
        with suppress(FileNotFoundError):
            return find_installed_weights()
        (name,) = load_embedders()
        return self.build_embedder_store().find(name)

    def build_embedder_store(self, progress: ProgressReporter | None = None) -> ModelStore:
        """Where it is kept unless it is installed."""
        return ModelStore(
            self.settings.home / "models",
            EMBEDDER,
            progress=progress,
            registry=load_embedders(),
            folders=self.settings.model.folders,
        )

    def build_model_store(self, progress: ProgressReporter | None = None) -> ModelStore:
        """The weights under ``home``, in the form that the engine here wants."""
        return ModelStore(
            self.settings.home / "models",
            GGUF if self._is_llama else SAFETENSORS,
            progress=progress,
            folders=self.settings.model.folders,
        )

    def open_engine(self) -> OpenEngine:
        """The configured engine, its weights fetched where it runs here.

        Raises ModelError, EngineUnavailable; SettingsError for a key that is not set, or for what
        this machine or this model cannot do.
        """
        model = self.settings.model
        if model.engine == "openai":
            return OpenAiEngine(model)
        if model.engine == "anthropic":
            return AnthropicEngine(model)
        weights = self.fetch_weights()
        if self._is_llama:
            return LlamaEngine(weights, model)
        return VllmEngine(weights, model)

    def fetch_weights(self, progress: ProgressReporter | None = None) -> Path:
        """What the engine here loads, fetched and checked.

        Raises ModelError, EngineUnavailable, and SettingsError for what this machine or this model
        cannot do.
        """
        folder = self.build_model_store(progress).pull(self.model_name())
        self.check_weights(folder)
        return find_weights(folder) if self._is_llama else folder

    def check_weights(self, folder: Path) -> None:
        """Whether the engine here can run what is in ``folder``. Raises as ``fetch_weights``."""
        if self._is_llama:
            check_processor(read_cpu_flags())
            check_system()
            check_model(find_weights(folder), self.settings.model, measure_free_memory())

    @property
    def _is_llama(self) -> bool:
        return choose_engine(self.settings.model) == "llama.cpp"

    def model_name(self) -> str:
        """The configured model; ``auto`` is the default for a GPU or a CPU, whichever is here."""
        model = resolve_model(self.settings.model, on_gpu=has_gpu())
        return model.served_name if model.is_remote else model.name

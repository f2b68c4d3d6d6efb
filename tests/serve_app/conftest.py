"""An index of its own for tests of the service, as in the tests of the index store."""

from tests.retrieval.index_store.conftest import index_url, store

__all__ = ["index_url", "store"]

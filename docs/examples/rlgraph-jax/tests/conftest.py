"""Programs that were compiled once are not compiled again: most checks build the same component several times."""

import os
import tempfile

import pytest

# Before anything imports JAX, and before pytest-xdist starts its workers, which inherit it.
_FOLDER = "JAX_COMPILATION_CACHE_DIR"
_MADE = (
    None
    if _FOLDER in os.environ
    else tempfile.TemporaryDirectory(prefix="rlgraph-jax-")
)
if _MADE is not None:
    os.environ[_FOLDER] = _MADE.name
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Leave nothing behind; the workers have ended."""
    if _MADE is not None:
        _MADE.cleanup()

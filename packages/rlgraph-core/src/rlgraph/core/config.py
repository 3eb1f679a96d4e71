"""Which backend is used when none is named."""

from __future__ import annotations

import json
import os
from pathlib import Path

from rlgraph.core.errors import SpecError
from rlgraph.core.registry import registry


def default_backend() -> str:
    """The backend to use when ``backend=`` is not given.

    It is looked for in this order: ``RLGRAPH_BACKEND``; key ``BACKEND`` of ``~/.rlgraph/rlgraph.json`` (the folder may
    be set by ``RLGRAPH_HOME``); the only framework backend that is installed; ``numpy`` if there is none.

    Raises:
        SpecError: several framework backends are installed, or the file is no JSON object.
    """
    from_environment = os.environ.get("RLGRAPH_BACKEND")
    if from_environment:
        return from_environment
    file = Path(os.environ.get("RLGRAPH_HOME", Path.home() / ".rlgraph")) / "rlgraph.json"
    if file.is_file():
        try:
            settings = json.loads(file.read_text())
            backend = settings.get("BACKEND")
        except (ValueError, AttributeError) as error:
            raise SpecError(
                f"expected a JSON object with 'BACKEND', given something else: {error}", path=str(file)
            ) from None
        if backend:
            return str(backend)
    installed = [name for name in registry("rlgraph.backends").names() if name != "numpy"]
    if len(installed) > 1:
        raise SpecError(
            f"several backends are installed: {', '.join(installed)}. Choose one: backend={installed[0]!r} "
            f"(on the command line: --backend {installed[0]}), or set RLGRAPH_BACKEND"
        )
    return installed[0] if installed else "numpy"

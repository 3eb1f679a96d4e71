"""Runs a benchmark: ``python tools/benchmarks micro/build --backend tf``; without a name it lists all of them.

The numeric libraries are kept to one thread here, before any of them is imported, in processes that a benchmark starts
as well.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent


def main() -> None:
    known = sorted(
        path.relative_to(FOLDER).with_suffix("").as_posix()
        for path in FOLDER.glob("*/*.py")
        if "\ndef main(" in path.read_text(encoding="utf-8")
    )
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    if name not in known:
        sys.exit(f"python tools/benchmarks NAME [OPTIONS], where NAME is one of: {', '.join(known)}")
    for variable in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    # Actors of Ray, samplers by hand: what they are sent is of modules in this folder.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(FOLDER), os.environ.get("PYTHONPATH"))))
    sys.argv[:2] = [name]
    importlib.import_module(name.replace("/", ".")).main()


if __name__ == "__main__":
    main()

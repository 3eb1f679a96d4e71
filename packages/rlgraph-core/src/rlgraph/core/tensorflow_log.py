"""Keeps TensorFlow's start-up log off standard error."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

LEVEL = "TF_CPP_MIN_LOG_LEVEL"
#: Lines of its log below errors, and the error that there is no CUDA: `execution_spec.device` says it where it matters.
_STARTUP = re.compile(
    rb"WARNING: All log messages before absl::|[IW]\d{4} [\d:. ]+\S+:\d+\] |E\d{4} .*\bcuInit\b"
)


@contextmanager
def startup_log_hidden() -> Iterator[None]:
    """Import TensorFlow inside, which is then started; what else is written meanwhile is written afterwards.

    ``TF_CPP_MIN_LOG_LEVEL`` of 0 or 1 shows everything. TensorFlow heeds it in part only: lines of its libraries come
    before it is read, and whether there is CUDA is logged as an error.
    """
    if os.environ.setdefault(LEVEL, "2") in ("0", "1") or "tensorflow" in sys.modules or not sys.stderr:
        yield
        return
    with tempfile.TemporaryFile() as log:
        stderr = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            yield
            if "tensorflow" in sys.modules:
                sys.modules["tensorflow"].config.list_physical_devices()
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)
            log.seek(0)
            for line in log:
                if not _STARTUP.match(line):
                    os.write(2, line)

"""Converts SVG to PNG with bundled fonts, which a machine may lack."""

from __future__ import annotations

import tempfile
from pathlib import Path

from rlgraph.core.errors import RLGraphError


def to_png(svg: str, scale: float) -> bytes:
    """The document as PNG, `scale` pixels per unit.

    Raises:
        RLGraphError: the ``draw`` extra is not installed.
    """
    try:
        import pymupdf_fonts
        import resvg_py
    except ImportError as error:
        raise RLGraphError(
            f"a PNG needs {error.name}, which is not installed: "
            'pip install "rlgraph-core[draw]". SVG and text need no extra'
        ) from error

    with tempfile.TemporaryDirectory() as folder:
        files = []
        for code in ("notos", "notosbo"):
            file = Path(folder, f"{code}.ttf")
            file.write_bytes(pymupdf_fonts.fontbuffers[code]())
            files.append(str(file))
        # Without system fonts the picture is the same on every machine.
        png = resvg_py.svg_to_bytes(
            svg_string=svg,
            zoom=scale,
            skip_system_fonts=True,
            font_files=files,
            sans_serif_family="Noto Sans",
        )
    return bytes(png)

"""The learning curve as a picture: looked at by its pixels."""

import numpy as np
import pytest
from matplotlib import image

from rlgraph.runs.curve import draw_curve

TRAINING, EVALUATION = (0x44, 0x77, 0xAA), (0xCC, 0x66, 0x77)


def pixels(file, color):
    """How many pixels have exactly this color."""
    rgb = np.round(image.imread(file)[..., :3] * 255).astype(int)
    assert rgb.shape == (540, 960, 3)
    return int((rgb == color).all(axis=-1).sum())


def row(timesteps, **values):
    return {"timesteps": timesteps, **values}


@pytest.mark.parametrize(
    ("history", "training", "evaluation"),
    [
        ([row(0, mean_return=0), row(9, mean_return=9)], True, False),
        ([row(0, evaluation_return=1.0), row(9, evaluation_return=2.0, loss=3.0)], False, True),
        (
            [
                row(0, mean_return=0),
                row(4, evaluation_return=7.0),
                row(9, mean_return=9),
                row(9, evaluation_return=1),
            ],
            True,
            True,
        ),
        ([row(0, loss=1.0)], False, False),
        ([], False, False),
    ],
)
def test_lines(tmp_path, history, training, evaluation):
    file = tmp_path / "curve.png"
    draw_curve(history, file, "CartPole-v1", 3)
    assert file.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert (pixels(file, TRAINING) > 100) == training
    assert (pixels(file, EVALUATION) > 100) == evaluation


def test_the_title_names_environment_and_seed(tmp_path, monkeypatch):
    pictures = []
    for environment, seed in (("A-v1", 3), ("A-v1", 4), ("B-v1", 3)):
        draw_curve([], tmp_path / "curve.png", environment, seed)
        pictures.append((tmp_path / "curve.png").read_bytes())
    assert len(set(pictures)) == 3

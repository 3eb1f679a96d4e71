"""The learning curve as a picture: looked at by its pixels."""

import numpy as np
import pytest
from matplotlib import image

from rlgraph.runs.curve import draw_curve
from rlgraph.workers.evaluation import Evaluation

TRAINING, EVALUATION = (0x44, 0x77, 0xAA), (0xCC, 0x66, 0x77)
BAND = (0xF7, 0xE8, 0xEA)


def pixels(file, color):
    """How many pixels have exactly this color."""
    rgb = np.round(image.imread(file)[..., :3] * 255).astype(int)
    assert rgb.shape == (540, 960, 3)
    return int((rgb == color).all(axis=-1).sum())


def draw(folder, history=(), evaluations=(), title="ppo in CartPole-v1 on torch, seed 3"):
    """Draws evaluations of two episodes, (steps, worst, best)."""
    file = folder / f"{title}.png"
    made = [Evaluation(returns=ends, lengths=(1, 1), timesteps=steps) for steps, *ends in evaluations]
    draw_curve(history, made, file, title)
    return file


def row(timesteps, **values):
    return {"timesteps": timesteps, **values}


@pytest.mark.parametrize(
    ("history", "evaluations", "training", "evaluation"),
    [
        ([row(0, mean_return=0), row(9, mean_return=9)], [], True, False),
        ([row(0, evaluation_return=1.0)], [(0, 1.0, 1.0), (9, 2.0, 2.0)], False, True),
        ([row(0, mean_return=0), row(9, mean_return=9)], [(4, 7.0, 7.0), (9, 1.0, 1.0)], True, True),
        ([row(0, loss=1.0)], [], False, False),
        ([], [], False, False),
    ],
)
def test_lines(tmp_path, history, evaluations, training, evaluation):
    file = draw(tmp_path, history, evaluations)
    assert file.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert (pixels(file, TRAINING) > 100) == training
    assert (pixels(file, EVALUATION) > 100) == evaluation
    assert (pixels(file, BAND) > 100) == evaluation  # in the legend at least


def test_the_band_reaches_from_the_worst_to_the_best_episode(tmp_path):
    narrow = pixels(draw(tmp_path, [], [(0, 4.0, 6.0), (9, 0.0, 10.0)]), BAND)
    wide = pixels(draw(tmp_path, [], [(0, 0.0, 10.0), (9, 0.0, 10.0)]), BAND)
    assert 1.4 < wide / narrow < 1.9  # areas 10 and 6, behind grid, line and legend


def test_the_title_is_drawn(tmp_path):
    assert (
        draw(tmp_path, title="dqn in A-v1").read_bytes() != draw(tmp_path, title="ppo in A-v1").read_bytes()
    )

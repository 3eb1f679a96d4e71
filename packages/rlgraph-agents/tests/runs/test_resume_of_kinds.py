"""Resumed runs of other kinds: noise, actions of several parts, pictures, preprocessors that remember; and Ctrl-C."""

import json

import numpy as np
import pytest
from doubles import killed_run

from rlgraph.runs import resume, run_differences, train

pytestmark = pytest.mark.slow

GRID = {
    "type": "grid_world",
    "world": "2x2",
    "action_type": "ftj",
    "state_representation": "xy+orientation",
    "random_start": True,
}
KINDS = {
    "noise": {"exploration_spec": {"noise_spec": {"type": "gumbel", "scale": [1.0, 0.1]}}},
    "parts": {"environment": GRID, "shared_container_action_target": True},
    "parts_apart": {"environment": GRID, "exploration_spec": {"each_part": True}, "n_step": 3},
    "pictures": {
        "environment": {"type": "atari", "game": "Pong", "screen_size": 36, "history": 2},
        "network_spec": [
            {"type": "divide", "divisor": 255.0},
            {"type": "conv2d", "filters": 2, "kernel_size": 8, "strides": 8},
            {"type": "reshape", "flatten": True},
        ],
    },
    "frames": {
        "preprocessing_spec": [
            {"type": "sequence", "sequence_length": 2},
            {"type": "reshape", "flatten": True},
        ],
        "n_step": 2,
    },
    "statistics": {"preprocessing_spec": [{"type": "moving_standardize"}]},
    "prioritized": {"memory_spec": {"type": "prioritized_replay", "capacity": 70, "beta": [0.4, 1.0]}},
}


def document(backend, execution, environment="CartPole-v1", **options):
    before = [{"type": "convert_type", "to_dtype": "float"}] if environment == GRID else []
    agent = {
        "type": "dqn",
        "network_spec": [*before, {"type": "dense", "units": 8, "activation": "tanh"}],
        "execution_spec": execution(backend),
        "update_spec": {"update_interval": 4, "batch_size": 8, "sync_interval": 30},
        "memory_spec": {"capacity": 70},
        **options,
    }
    return {
        "agent": agent,
        "environment": environment,
        "backend": backend,
        "steps": 160,
        "seed": 2,
        "worker": {"num_envs": 2, "max_timesteps_per_episode": 30},
        "logging": {"report_interval": 20, "tensorboard": False},
        "evaluation": {"interval": 50, "episodes": 1, "final_episodes": 1},
        "checkpoints": {"interval": 60},
    }


@pytest.mark.parametrize("kind", KINDS)
def test_a_resumed_run_equals_the_one_that_was_never_left(kind, one_backend, execution, tmp_path, undrawn):
    if kind == "pictures":
        pytest.importorskip("ale_py", reason="Atari games need the extra 'atari'")
    spec = document(one_backend, execution, **KINDS[kind])
    train(spec, tmp_path / "one")
    killed_run(spec, tmp_path / "other", 100)
    assert resume(tmp_path / "other").departures == ()
    assert run_differences(tmp_path / "one", tmp_path / "other") == []


@pytest.mark.parametrize("environment", ["CartPole-v1", {"type": "deterministic", "steps_to_terminal": 37}])
@pytest.mark.parametrize("file", ["variables.safetensors", "host.safetensors", "manifest.json"])
def test_ctrl_c_while_a_checkpoint_is_written(
    one_backend, execution, tmp_path, undrawn, monkeypatch, environment, file
):
    """What was begun leaves nothing behind, the checkpoint before is whole, and the progress is saved."""
    spec = document(one_backend, execution, environment)
    pressed = []
    from rlgraph.core.checkpoint import writing

    def press(write):
        def written(path, *arguments):
            target = path / file if file == "manifest.json" and path.is_dir() else path
            if not pressed and target.name == file and "step-000000120" in str(target):
                pressed.append(target)
                raise KeyboardInterrupt
            return write(path, *arguments)

        return written

    for name in ("write_tensors", "write_manifest"):
        monkeypatch.setattr(writing, name, press(getattr(writing, name)))
    summary = train(spec, tmp_path)
    assert pressed and summary.training.interrupted
    assert summary.training.timesteps == 120
    names = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert names == ["best", "last", "step-000000060"]
    assert json.loads((tmp_path / "result.json").read_text())["outcome"] == "interrupted"
    again = resume(tmp_path)
    assert again.training.timesteps == 160 and not again.training.interrupted
    assert "step 120: it resumed where training was ended" in again.departures[0]
    rows = (tmp_path / "episodes.csv").read_text().splitlines()[1:]
    assert np.all(np.diff([int(row.split(",")[0]) for row in rows]) >= 0)

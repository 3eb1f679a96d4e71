"""Environments of extras, and the line that installs what is missing."""

import sys

import numpy as np
import pytest

from rlgraph.core import SpecError
from rlgraph.environments import make_environment, make_vector_env
from rlgraph.environments.extras import PACKAGE, import_extra, install_line
from rlgraph.runs.training import train


@pytest.fixture
def without(monkeypatch):
    """Hides modules as if nothing had installed them."""

    def hide(*modules):
        for module in modules:
            for name in [name for name in sys.modules if name == module or name.startswith(f"{module}.")]:
                monkeypatch.delitem(sys.modules, name)
            monkeypatch.setitem(sys.modules, module, None)
        for name in [
            name for name in sys.modules if name.startswith("gymnasium.envs.") and name.count(".") > 2
        ]:
            monkeypatch.delitem(sys.modules, name)

    return hide


@pytest.mark.parametrize(
    ("gym_id", "extra"), [("LunarLander-v3", "box2d"), ("BipedalWalker-v3", "box2d"), ("Hopper-v5", "mujoco")]
)
def test_ids_of_extras_make_environments_or_name_the_extra(gym_id, extra, without):
    module = {"box2d": "Box2D", "mujoco": "mujoco"}[extra]
    pytest.importorskip(module)
    env = make_environment(gym_id)
    state = env.reset(seed=1)
    assert env.state_space.contains(state) and state.dtype == np.float32
    env.terminate()
    without(module)
    with pytest.raises(SpecError, match=rf'{gym_id} needs {module}.*pip install "{PACKAGE}\[{extra}\]"'):
        make_environment(gym_id)


def test_a_package_that_an_environment_imports_on_the_way_belongs_to_the_same_extra(without):
    pytest.importorskip("mujoco")
    without("imageio")
    with pytest.raises(SpecError, match=rf'Hopper-v5 needs imageio.*pip install "{PACKAGE}\[mujoco\]"'):
        make_vector_env("Hopper-v5", 2)


def test_a_game_of_a_package_that_is_not_installed_is_not_an_unknown_id(without, monkeypatch):
    import gymnasium

    for name in [name for name in gymnasium.registry if name.startswith("ALE/")]:
        monkeypatch.delitem(gymnasium.registry, name)
    without("ale_py")
    for spec in ("ALE/Pong-v5", {"type": "openai", "env_id": "ALE/Pong-v5"}):
        with pytest.raises(SpecError, match=rf'ALE/Pong-v5 needs ale_py.*pip install "{PACKAGE}\[atari\]"'):
            make_environment(spec)


def test_a_document_whose_environment_is_of_a_missing_extra_names_it(without, tmp_path):
    without("Box2D")
    with pytest.raises(SpecError, match=rf'pip install "{PACKAGE}\[box2d\]"'):
        train({"agent": {"type": "random"}, "environment": "LunarLander-v3"}, folder=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("h5py", f'pip install "{PACKAGE}[data]"'),
        ("imageio_ffmpeg", f'pip install "{PACKAGE}[video]"'),
        ("ale_py.roms", f'pip install "{PACKAGE}[atari]"'),
        ("no_such_module", "pip install no-such-module"),
    ],
)
def test_the_line_installs_the_extra_that_brings_a_module(module, line):
    assert install_line(module) == line


def test_what_works_without_it_ends_the_message(without):
    without("h5py")
    with pytest.raises(SpecError, match=r"HDF5 needs h5py.*\[data\]\"; \.npz files need nothing"):
        import_extra("h5py", "HDF5", "data.h5", "; .npz files need nothing")


@pytest.mark.parametrize("gym_id", ["LunarLander-v3", "LunarLanderContinuous-v3"])
def test_the_states_of_lunar_lander_leave_its_declared_bounds(gym_id):
    """Its main engine lifts it above 2.5, which the checks of the first episode would refuse."""
    pytest.importorskip("Box2D")
    vector = make_vector_env(gym_id, 1)
    discrete = gym_id == "LunarLander-v3"
    up = np.array([2]) if discrete else np.array([[1.0, 0.0]], np.float32)
    states, highest = vector.reset(seed=2), 0.0
    for _ in range(150):
        states = vector.step(up)[0]
        highest = max(highest, float(states[0, 1]))
    assert highest > 2.5
    vector.terminate()

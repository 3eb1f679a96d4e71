#!/usr/bin/env python3
"""Checks what a clean environment of the package matrix holds; `tools/dev.py matrix` runs it there, as JSON says.

It runs outside the repository, in isolated mode. Standard library and the installed packages only, no pytest.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import distribution
from pathlib import Path
from typing import Any


def main(row: dict[str, Any]) -> int:
    """Runs all checks of a row, named as in `devlib.matrix.Row`; 0 when nothing is wrong."""
    problems = [*_problems(row)]
    if not problems:
        for name in row["checks"]:
            CHECKS[name](frozenset(row["extras"]))
        problems += [f"{name} was imported" for name in row["absent"] if name in sys.modules]
    print(*problems, sep="\n", end="\n" if problems else "")
    return int(bool(problems))


def _problems(row: dict[str, Any]) -> Iterator[str]:
    """Something that must be absent is there, a module cannot be imported, an entry point cannot be loaded."""
    for name in row["absent"]:
        if _exists(name):
            yield f"{name} can be imported here"
    for name in (name for portion in row["portions"] for name in _modules(portion)):
        try:
            module = importlib.import_module(name)
        except ImportError as error:
            if not name.startswith(tuple(row["optional"])):
                yield f"{name} cannot be imported: {error}"
        else:
            if (module.__file__ or "").startswith(row["root"]):
                yield f"{name} comes from the repository: {module.__file__}"
    for name in row["distributions"]:
        for entry in distribution(name).entry_points:
            try:
                entry.load()
            except Exception as error:
                yield f"{name}: the entry point {entry.name} = {entry.value} cannot be loaded: {error}"


def _exists(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _modules(portion: str) -> Iterator[str]:
    """The portion and every module in it, `__main__` apart."""
    yield portion
    path = importlib.import_module(portion).__path__
    for module in pkgutil.walk_packages(path, f"{portion}.", onerror=lambda name: None):
        if not module.name.endswith("__main__"):
            yield module.name


def _refused(expected: str, function: Callable[[], Any]) -> None:
    """The call raises an error that holds the expected text, quotation marks apart."""
    try:
        function()
    except Exception as error:
        assert expected in str(error).translate({34: None, 39: None}), (
            f"expected {expected!r} in the message: {error}"
        )
    else:
        raise AssertionError(f"{function} must fail without an extra")


def _each(package: str, extras: frozenset[str], functions: dict[str, Callable[[], Any]]) -> None:
    """What needs an extra runs, or names the extra that is missing."""
    for extra, function in functions.items():
        if extra in extras:
            function()
        else:
            _refused(f"{package}[{extra}]", function)


def spaces(extras: frozenset[str]) -> None:
    from rlgraph.spaces import Dict, FloatBox, IntBox, gymnasium

    space = Dict(a=IntBox(4), b=Dict(c=FloatBox(-1.0, 1.0, shape=(2,))), add_batch_rank=True)
    sample = space.sample(size=3)
    flat = space.flatten_sample(sample)
    assert space.contains(space.unflatten_sample(flat)), flat

    def converted() -> None:
        assert gymnasium.from_gymnasium(gymnasium.to_gymnasium(IntBox(4))) == IntBox(4)

    optional: dict[str, Callable[[], Any]] = {
        "gymnasium": converted,
        "testing": lambda: importlib.import_module("rlgraph.spaces.testing"),
    }
    _each("pip install rlgraph-spaces", extras, optional)


def core(extras: frozenset[str]) -> None:
    from rlgraph.components import NeuralNetwork
    from rlgraph.core import GraphExecutor
    from rlgraph.draw import draw, graph_definition
    from rlgraph.spaces import FloatBox

    Path("network.yaml").write_text("[{type: dense, units: 2, activation: relu}]", encoding="utf-8")
    network = NeuralNetwork.from_spec("network.yaml" if "yaml" in extras else [{"type": "dense", "units": 2}])
    executor = GraphExecutor(network, {"inputs": FloatBox(shape=(3,), add_batch_rank=True)}, backend="numpy")
    assert executor.execute("call", [[1.0, 2.0, 3.0]]).shape == (1, 2)
    optional: dict[str, Callable[[], Any]] = {
        "draw": lambda: draw(executor).save("network.png"),
        "tensorboard": lambda: graph_definition(executor),
        "testing": lambda: importlib.import_module("rlgraph.testing.operations"),
        "yaml": lambda: NeuralNetwork.from_spec("network.yaml"),
    }
    _each("pip install rlgraph-core", extras, optional)


def torch(extras: frozenset[str]) -> None:
    executor = _learn("torch")
    if "onnx" not in extras or sys.version_info < (3, 14):
        export = partial(executor.export_onnx, "onnx", ["predict"])
        _each("pip install rlgraph-torch", extras, {"onnx": export})


def tf(extras: frozenset[str]) -> None:
    executor = _learn("tf")
    optional = {"tensorboard": lambda: executor.summary_writer("summaries").close()}
    _each("pip install rlgraph-tf", extras, optional)


def backend(extras: frozenset[str]) -> None:
    """Every backend that is installed beside NumPy."""
    from rlgraph.core import registry

    for name in {*registry("rlgraph.backends").names()} - {"numpy"}:
        _learn(name)


def _learn(backend: str) -> Any:
    """Updates of a component lower its loss; its weights give the same on NumPy. Returns the graph executor."""
    import numpy as np

    from rlgraph.components import Adam, NeuralNetwork
    from rlgraph.core import Component, GraphExecutor, executor_class, graph_fn, rlgraph_api
    from rlgraph.spaces import FloatBox

    class Regression(Component):
        def __init__(self) -> None:
            self.network = NeuralNetwork.from_spec([{"type": "dense", "units": 2}])
            self.optimizer = Adam(0.1)
            super().__init__(self.network, self.optimizer, scope="regression")

        @rlgraph_api
        def predict(self, inputs: Any) -> Any:
            return self.network.call(inputs)

        @rlgraph_api
        def update(self, inputs: Any) -> Any:
            loss = self._loss(self.network.call(inputs), inputs)
            self.optimizer.step(self.network.variables(), loss)
            return loss

        @graph_fn
        def _loss(self, ops: Any, predicted: Any, inputs: Any) -> Any:
            return ops.mean(ops.square(predicted - inputs))

    spaces = {"inputs": FloatBox(shape=(2,), add_batch_rank=True)}
    inputs = np.eye(2, dtype="float32")
    executor = executor_class(backend)(Regression(), spaces, backend=backend)
    losses = [float(executor.execute("update", inputs)) for _ in range(50)]
    assert losses[-1] < 0.1 * losses[0], losses
    reference = GraphExecutor(Regression(), spaces, backend="numpy")
    reference.set_weights(executor.get_weights())
    expected = reference.execute("predict", inputs)
    np.testing.assert_allclose(executor.execute("predict", inputs), expected, atol=1e-5)
    return executor


def agents(extras: frozenset[str]) -> None:
    """DQN learns on the command line and acts on NumPy; what needs an extra runs or says so."""
    from rlgraph.environments import make_environment, make_vector_env
    from rlgraph.workers.recording import Mp4Film

    backend = _backend()
    train = ["train", "--env", "CartPole-v1", "--backend", backend, "--steps", "400", "--quiet"]
    _rlgraph(*train, "--folder", "run")
    _rlgraph("evaluate", "run", "--backend", "numpy", "--episodes", "2")
    for other in {"torch", "tf"} - {backend}:
        _rlgraph("evaluate", "run", "--backend", other, refused=f"pip install rlgraph-{other}")
    _rlgraph("plugins")

    def atari() -> None:
        env = make_environment({"type": "atari", "game": "Pong"})
        env.reset(seed=1)
        env.set_state(env.get_state())

    present = extras | ({"data"} if _exists("h5py") else set())  # Keras brings h5py, too

    def data() -> None:
        file = Path("data.hdf5")
        file.touch()
        if "data" in present:
            _write_data_set(file)
        clone = ["train", "--agent", "bc", "--env", "CartPole-v1", "--backend", backend, "--steps", "0"]
        _rlgraph(*clone, "--set", f"data.file={file}", "--set", "data.updates=1", "--folder", "cloned")

    grid = {"type": "minigrid", "env_id": "MiniGrid-Empty-5x5-v0"}
    optional: dict[str, Callable[[], Any]] = {
        "atari": atari,
        "data": data,
        "box2d": lambda: make_environment("LunarLander-v3").reset(seed=1),
        "minatar": lambda: make_environment("MinAtar/Breakout-v1").reset(seed=1),
        "minigrid": lambda: make_environment(grid).reset(seed=1),
        "mujoco": lambda: make_environment("Hopper-v5").reset(seed=1),
        "envpool": lambda: make_vector_env({"type": "envpool", "task_id": "CartPole-v1"}, 2).reset(),
        "tune": lambda: _rlgraph("tune", "--agent", "dqn", *train[1:-1], "--trials", "1"),
        "video": lambda: Mp4Film(Path("film.mp4"), 30.0),
        "wandb": lambda: _rlgraph(*train, "--folder", "logged", "--set", "logging.wandb.mode=offline"),
    }
    _each("rlgraph-agents", present, optional)


def _write_data_set(file: Path) -> None:
    """One episode of CartPole in the format of Minari."""
    import h5py
    import numpy as np

    with h5py.File(file, "w") as written:
        episode = written.create_group("episode_0")
        episode["observations"] = np.zeros((9, 4), np.float32)
        episode["actions"] = np.zeros(8, np.int64)
        episode["rewards"] = np.ones(8)
        episode["terminations"] = np.arange(8) == 7
        episode["truncations"] = np.zeros(8, bool)


def dist(extras: frozenset[str]) -> None:
    """PPO learns from two actors, of this process and of Ray."""
    assert "ray" not in sys.modules, "importing rlgraph.execution imports Ray"
    for engine in ("in_process", "ray"):
        _train("ppo", 4096, engine, "--actors", "2", "--executor", engine)


def distributed_tf(extras: frozenset[str]) -> None:
    """IMPALA learns from two workers of a TensorFlow cluster."""
    _train("impala", 4096, "cluster", "--actors", "2", "--executor", "distributed_tf", "--allow-network")


def group(extras: frozenset[str]) -> None:
    """PPO learns with a learner on each of two devices, which the backend's own collective joins."""
    devices = "agent.execution_spec.devices=[cpu,cpu]"
    collective = f"agent.execution_spec.collective={'gloo' if _backend() == 'torch' else 'tensorflow'}"
    options = ("--set", "worker.num_envs=8", "--allow-network")
    _train("ppo", 4096, "group", "--set", devices, "--set", collective, *options)


def _backend() -> str:
    """The backend that is installed beside NumPy."""
    from rlgraph.core import registry

    (name,) = {*registry("rlgraph.backends").names()} - {"numpy"}
    return str(name)


def _train(agent: str, steps: int, folder: str, *options: str) -> None:
    """Training on CartPole in a run folder."""
    task = ("--agent", agent, "--env", "CartPole-v1", "--backend", _backend(), "--steps", str(steps))
    _rlgraph("train", *task, "--quiet", "--folder", folder, *options)


def horovod(extras: frozenset[str]) -> None:
    """Both halves of Horovod do what every collective must do."""
    from rlgraph.testing.collectives import run_collective_conformance

    for framework in ("torch", "tensorflow"):
        outcomes = run_collective_conformance({"type": "horovod", "framework": framework})
        failed = [f"{each.check.name}: {each.message}" for each in outcomes if each.status == "failed"]
        assert not failed, f"{framework}: {failed}"


def _rlgraph(*arguments: str, refused: str = "") -> None:
    """Runs the installed command; raises RuntimeError with what it prints when it fails."""
    command = [str(Path(sys.executable).with_name("rlgraph")), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if refused:
        assert done.returncode and refused in done.stderr, f"{command}: {done.returncode} {done.stderr}"
    elif done.returncode:
        raise RuntimeError(f"{command}: exit status {done.returncode}\n{done.stderr}")


CHECKS: dict[str, Callable[[frozenset[str]], None]] = {
    "spaces": spaces,
    "core": core,
    "torch": torch,
    "tf": tf,
    "backend": backend,
    "agents": agents,
    "dist": dist,
    "distributed_tf": distributed_tf,
    "group": group,
    "horovod": horovod,
}

if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))

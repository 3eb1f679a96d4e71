"""Environments that do not close: training ends all the same, with what it made, and says which one it was."""

import threading
import time
import warnings

import numpy as np
import pytest

from rlgraph.core import allow_imports
from rlgraph.environments import ProcessVectorEnv, RandomEnv, SequentialVectorEnv, closing
from rlgraph.runs import train
from rlgraph.spaces import FloatBox, IntBox


class Stuck(RandomEnv):
    """Its `terminate` sleeps, or waits for a lock, for ever."""

    def __init__(self, kind: str = "sleep"):
        super().__init__(FloatBox(shape=(2,)), IntBox(2))
        self.kind = kind

    def terminate(self) -> None:
        if self.kind == "loop":
            while True:
                try:
                    time.sleep(1e9)
                except Exception:  # as simulators do that must shut down
                    continue
        elif self.kind == "lock":
            lock = threading.Lock()
            lock.acquire()
            lock.acquire()
        else:
            time.sleep(1e9)


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(closing, "CLOSE_TIMEOUT", 0.3)


def made_here_only():
    """In the process of a test it closes: only those of other processes block."""
    return Stuck() if threading.current_thread().name == "MainThread" and _is_child() else _Closes()


class _Closes(Stuck):
    def terminate(self) -> None:
        pass


def _is_child() -> bool:
    from multiprocessing import parent_process

    return parent_process() is not None


@pytest.mark.parametrize("kind", ["sleep", "lock", "loop"])
def test_what_blocks_in_this_process_is_ended_with_a_warning(kind):
    vector, began = SequentialVectorEnv([lambda: Stuck(kind)] * 3), time.monotonic()
    with pytest.warns(RuntimeWarning, match=r"Stuck, environment \d, terminate: it did not return") as found:
        vector.terminate()
    assert len(found) == 3 and time.monotonic() - began < 2.0


def test_in_other_threads_a_thread_is_left_behind():
    found = []

    def close():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            closing.release(Stuck().terminate, "stuck")
        found.extend(str(each.message) for each in caught)

    thread = threading.Thread(target=close, daemon=True)
    thread.start()
    thread.join(3.0)
    assert not thread.is_alive()
    assert found and found[0].startswith("stuck, terminate: it did not return within 0.3 s")


def test_errors_of_what_closes_in_time_are_warnings_in_any_thread(monkeypatch):
    def failing():
        raise ValueError("no such window")

    for can_interrupt in (True, False):
        monkeypatch.setattr(closing, "_can_interrupt", lambda can_interrupt=can_interrupt: can_interrupt)
        with pytest.warns(RuntimeWarning, match="ValueError: no such window"):
            closing.release(failing, "window")


def test_processes_whose_environments_do_not_close_are_ended_and_named():
    vector = ProcessVectorEnv(made_here_only, 3, processes=2)
    vector.reset(seed=1)
    vector.step(np.zeros(3, np.int64))
    ids, began = vector.processes, time.monotonic()
    with pytest.warns(
        RuntimeWarning, match="terminate did not return within 0.3 s; its process was ended"
    ) as found:
        vector.terminate()
    assert time.monotonic() - began < 3.0
    said = [str(each.message).partition(":")[0] for each in found]
    assert said == ["_Closes, environment 0", "_Closes, environment 1 to 2"] and ids


def test_a_run_keeps_its_results(tmp_path):
    document = {
        "agent": {"type": "random"},
        "environment": {"type": f"{__name__}:Stuck"},
        "backend": "numpy",
        "steps": 8,
        "worker": {"num_envs": 2},
        "evaluation": {"final_episodes": 1},
        "logging": {"tensorboard": False},
    }
    with pytest.warns(RuntimeWarning, match="it did not return"), allow_imports(__name__):
        summary = train(document, tmp_path / "run")
    assert (tmp_path / "run" / "result.json").exists() and (
        tmp_path / "run" / "checkpoints" / "last"
    ).exists()
    assert summary.training.timesteps == 8

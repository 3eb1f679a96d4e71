"""Episodes, frame skip, limits, stop conditions, callbacks, statistics of the worker."""

import numpy as np
import pytest
from doubles import Episodes, memory, told

from rlgraph.core import InputError, SpecError
from rlgraph.environments import (
    DeterministicEnv,
    Environment,
    EnvironmentFault,
    SequentialVectorEnv,
    make_vector_env,
)
from rlgraph.environments.stepped_env import SteppedEnv
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.workers import (
    Callback,
    SingleThreadedWorker,
    StopAfterEpisodes,
    StopAfterSeconds,
    StopAtEvaluation,
    StopAtReturn,
)
from rlgraph.workers.listeners import Listeners
from rlgraph.workers.metrics import METRICS, check_metrics, define_metric, glossary_table

COUNTING = {"type": "deterministic", "steps_to_terminal": 3, "reward_start": 1.0}  # returns of 1 + 2 + 3


@pytest.fixture
def actor(make_agent):
    return lambda env=COUNTING, **options: make_agent(
        "numpy", env=env, update_spec={"do_updates": False}, memory_spec={"capacity": 1000}, **options
    )


def worker_of(agent, env=COUNTING, **options):
    return SingleThreadedWorker(agent, env, **options)


# How long.


def test_usage(actor):
    worker = SingleThreadedWorker(actor(), env_spec=COUNTING, num_environments=2, frameskip=1)
    result = worker.execute_episodes(4)
    assert result["episodes_executed"] == 4
    assert result["mean_episode_reward"] == result["max_episode_reward"] == 6.0
    assert (
        worker.execute_timesteps(8, max_timesteps_per_episode=2, use_exploration=False).returns == (3.0,) * 4
    )


def test_episodes(actor):
    agent = actor()
    worker = worker_of(agent)
    result = worker.execute_episodes(5)
    assert (result.timesteps, result.episodes) == (15, 5)
    again = worker.execute_episodes(2)
    assert (again.timesteps, again.episodes, worker.timesteps) == (6, 2, 21)


def test_exploration_follows_the_episodes(actor):
    agent, seen = actor(exploration_spec={"epsilon_spec": [1.0, 0.0]}), []
    watching = told(on_episode=lambda *_: seen.append(agent.metrics()["epsilon"]))
    worker_of(agent).execute_episodes(4, callbacks=watching)
    assert seen == pytest.approx([1.0, 0.75, 0.5, 0.25], abs=1e-6)


def test_schedules_over_several_calls(actor):
    """Two calls of four steps are one schedule over eight; by default each call is one."""

    def epsilons(**options):
        agent, seen = actor(exploration_spec={"epsilon_spec": [1.0, 0.0]}), []
        watching = told(on_step=lambda *_: seen.append(agent.metrics()["epsilon"]))
        for steps in (4, 4, 1):
            agent.learn(steps, callbacks=watching, **options)
        return seen

    assert epsilons(schedule_timesteps=8) == pytest.approx([*np.arange(8, 0, -1) / 8, 0.0], abs=1e-6)
    assert epsilons() == pytest.approx([1.0, 0.75, 0.5, 0.25] * 2 + [1.0], abs=1e-6)
    with pytest.raises(SpecError, match="schedule_timesteps: expected an integer >= 1 or None, given 0"):
        actor().learn(4, schedule_timesteps=0)


def test_statistics(actor):
    result = worker_of(actor(), num_envs=2, frameskip=3).execute_timesteps(8)
    # One step of three frames is an episode: 1 + 2 + 3.
    assert result.returns == (6.0,) * 8
    statistics = result.statistics
    assert statistics["timesteps_executed"] == 8
    assert statistics["env_frames"] == 24
    assert statistics["env_frames_per_second"] == pytest.approx(3 * statistics["ops_per_second"])
    assert statistics["episodes_per_minute"] == pytest.approx(8 * 60 / result.seconds)
    assert statistics["mean_episode_runtime"] == pytest.approx(result.seconds / 4)
    assert statistics["mean_episode_reward_last_10_episodes"] == statistics["final_episode_reward"] == 6.0
    with pytest.raises(InputError, match="Did you mean 'mean_episode_reward'"):
        result["mean_episode_rewards"]


# Frame skip and limits.


def test_frames_are_skipped_and_rewards_summed():
    env = SteppedEnv(DeterministicEnv(5, reward_start=1.0), frameskip=2)
    env.reset()
    assert [env.step(0)[1:4] for _ in range(3)] == [
        (3.0, False, False),
        (7.0, False, False),
        (5.0, True, False),
    ]


def test_a_limit_is_a_truncation(actor):
    agent = actor()
    result = worker_of(
        agent, {**COUNTING, "steps_to_terminal": 9}, max_timesteps_per_episode=2
    ).execute_timesteps(6)
    assert result.returns == (3.0,) * 3
    assert not memory(agent)["terminals"].any()
    assert memory(agent)["next_states"].ravel().tolist() == [1, 2] * 3


def test_an_end_at_the_limit_is_a_terminal_state(actor):
    agent = actor()
    worker_of(agent, max_timesteps_per_episode=3).execute_timesteps(3)
    assert memory(agent)["terminals"].tolist() == [False, False, True]


def test_an_instance_can_be_limited_for_one_call(actor):
    environment = DeterministicEnv(9, reward_start=1.0)
    worker = worker_of(actor(), environment)
    assert worker.execute_timesteps(4, max_timesteps_per_episode=2).returns == (3.0, 3.0)
    assert worker.execute_timesteps(9).returns == (45.0,)


def test_evaluations_have_the_same_rules(actor):
    worker = worker_of(actor(), frameskip=2, evaluation_interval=4, evaluation_episodes=1)
    assert [e.lengths for e in worker.execute_timesteps(4).evaluations] == [(2,)]


# Stop conditions.


def test_stop_at_return(actor):
    worker = worker_of(actor(), Episodes(length=1, reward=lambda env, action: env.episode + 1.0))
    assert worker.execute_timesteps(1000, stop=StopAtReturn(10.0, window=3)).returns[-1] == 11.0  # 9, 10, 11


def test_stop_after_episodes_of_this_run(actor):
    worker = worker_of(actor())
    for _ in range(2):
        assert worker.execute_timesteps(1000, stop=[StopAfterEpisodes(4)]).episodes == 4


def test_stop_after_seconds(actor):
    assert worker_of(actor()).execute_timesteps(10**7, stop=StopAfterSeconds(1e-9)).episodes == 1


def test_stop_at_evaluation(actor):
    worker = worker_of(actor(), evaluation_interval=5, evaluation_episodes=1)
    assert worker.execute_timesteps(100, stop=StopAtEvaluation(6.0)).timesteps == 5
    assert worker.execute_timesteps(100, stop=StopAtEvaluation(6.1)).timesteps == 100


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: StopAtReturn(float("nan")), "mean: expected a finite number, given nan"),
        (lambda: StopAtReturn(1.0, window=0), "window: expected an integer >= 1, given 0"),
        (lambda: StopAfterEpisodes(0), "episodes: expected an integer >= 1, given 0"),
        (lambda: StopAfterSeconds(0), "seconds: expected a number above 0, given 0"),
    ],
)
def test_wrong_conditions(make, said):
    with pytest.raises(SpecError, match=said):
        make()


# Callbacks.


def test_every_event_can_end_the_training(actor):
    for event in ("on_step", "on_episode", "on_report", "on_evaluation"):
        options = {"report_interval": 2, "evaluation_interval": 4, "evaluation_episodes": 1}
        stopping = told(**{event: lambda *_: True})
        result = worker_of(actor(), **options).execute_timesteps(100, callbacks=stopping)
        assert result.timesteps == {"on_step": 1, "on_episode": 3, "on_report": 2, "on_evaluation": 4}[event]


def test_updates_are_told(make_agent, backend):
    losses = []

    def on_update(worker, results):
        losses.append(results["loss"])
        return len(losses) == 2

    agent = make_agent(backend, env=COUNTING, update_spec={"update_interval": 4, "batch_size": 4})
    result = worker_of(agent).execute_timesteps(100, callbacks=told(on_update=on_update))
    assert result.updates == len(losses) == 2


def test_steps_are_told(actor):
    steps = []

    def on_step(worker, step):
        values = step.states, step.final_states, step.terminated
        steps.append(tuple(value.ravel().tolist() for value in values))

    worker_of(actor(), num_envs=2).execute_timesteps(6, callbacks=told(on_step=on_step))
    assert steps == [
        ([0, 0], [1, 1], [False] * 2),
        ([1, 1], [2, 2], [False] * 2),
        ([2, 2], [3, 3], [True] * 2),
    ]


def test_what_is_not_overridden_is_not_called():
    listeners = Listeners([Callback(), told(on_episode=lambda *_: None)])
    assert len(listeners.to("on_episode")) == 1
    assert [event for event in vars(Callback) if event.startswith("on_") and listeners.to(event)] == [
        "on_episode"
    ]


@pytest.mark.parametrize(
    ("answer", "steps"),
    [(False, [2]), (np.False_, [2]), (None, [2, 4, 6]), (True, [2, 4, 6]), (0, [2, 4, 6])],
)
def test_a_function_is_called_at_every_report_and_stops_with_false(actor, answer, steps):
    seen = []

    def told(worker, metrics):
        seen.append(worker.timesteps)
        return answer

    worker_of(actor(), num_envs=1, report_interval=2).execute_timesteps(6, callbacks=told)
    assert seen == steps


@pytest.mark.parametrize(
    ("steps", "options", "said"),
    [
        (
            1,
            {"callbacks": [lambda: None]},
            r"callbacks: expected a function of \(worker, metrics\), given <func",
        ),
        (1, {"stop": lambda worker, metrics: True}, r"stop: expected a condition.*given <function"),
        ("many", {}, "timesteps: expected a number of steps >= 0, given 'many'"),
        (-5, {}, "timesteps: expected a number of steps >= 0, given -5"),
        (None, {"episodes": 0}, "episodes: expected an integer >= 1, given 0"),
    ],
)
def test_wrong_arguments_of_a_run(actor, steps, options, said):
    worker = worker_of(actor())
    with pytest.raises(SpecError, match=said):
        worker.execute_episodes(**options) if steps is None else worker.execute_timesteps(steps, **options)


def test_a_number_of_steps_may_be_a_float(actor):
    assert worker_of(actor()).execute_timesteps(1e1).timesteps == 10


def test_a_short_run_is_reported_too(actor):
    reports = []

    watching = told(on_report=lambda worker, metrics: reports.append(metrics["timesteps"]))
    worker_of(actor(), report_interval=1000).execute_timesteps(7, callbacks=watching)
    assert reports == [7.0]


# Restarted environments.


class Restarting(SequentialVectorEnv):
    """Says that environment 1 was restarted in step 3."""

    def __init__(self):
        super().__init__([lambda: DeterministicEnv(100, reward_start=1.0)] * 3)
        self.count = 0

    def step(self, actions):
        result = super().step(actions)
        self.count += 1
        self.dropped = (1,) if self.count == 3 else ()
        self._restarts.counts[1] += bool(self.dropped)
        return result


def test_rows_of_restarted_environments_are_left_out(actor):
    agent, reports, cut = actor(), [], []
    agent.cut = cut.append
    worker = worker_of(agent, num_envs=3)
    worker.vector_env = Restarting()
    watching = told(on_report=lambda worker, metrics: reports.append(metrics))
    result = worker.execute_timesteps(14, callbacks=watching)
    assert result.timesteps == agent.timesteps == 14  # 3 + 3 + 2 + 3 + 3
    assert memory(agent)["states"].ravel().tolist() == [0] * 3 + [1] * 3 + [2] * 2 + [3] * 3 + [4] * 3
    assert (reports[0]["restarts"], reports[0]["dropped_steps"]) == (1.0, 1.0)
    assert cut == [[1]]
    assert worker.episodes.running_lengths == [5, 2, 5]
    later = worker_of(actor(), num_envs=3)
    later.set_state(worker.get_state(), (), (), ())
    assert (later.timesteps, later.dropped_steps) == (14, 1)


class Resting(Restarting):
    """A row that was no step, as where an environment is reset by the step behind its last one."""

    def step(self, actions):
        result = super().step(actions)
        self.idle = self.dropped
        return result


def test_rows_that_were_no_steps_are_not_counted(actor):
    worker = worker_of(actor(), num_envs=3)
    worker.vector_env = Resting()
    worker.execute_timesteps(14)
    assert memory(worker.agent)["states"].ravel().tolist() == [0] * 3 + [1] * 3 + [2] * 2 + [3] * 3 + [4] * 3
    assert worker.dropped_steps == 0


# Statistics that are not what is learned from.


class Lives(Environment):
    """Three lives of two steps each make an episode; learned from are lives with rewards of 1."""

    def __init__(self):
        super().__init__(FloatBox(shape=(1,)), IntBox(2))
        self.steps = 0

    def reset(self, seed=None):
        return np.zeros(1, np.float32)

    def step(self, action):
        self.steps += 1
        life_lost, over = self.steps % 2 == 0, self.steps % 6 == 0
        info = {"episode_return": 600.0 if over else None, "episode_length": 6} if life_lost else {}
        return np.zeros(1, np.float32), 1.0, life_lost, False, info


def test_an_episode_for_learning_is_not_one_for_statistics(actor):
    agent = actor(Lives)
    result = worker_of(agent, Lives).execute_timesteps(12)
    assert result.returns == (600.0, 600.0)
    assert memory(agent)["terminals"].sum() == 6
    evaluation = agent.evaluate(2, env=Lives)
    assert evaluation.returns == (600.0, 600.0)
    assert evaluation.lengths == (6, 6)


@pytest.mark.parametrize("info", [{"episode_return": "600"}, {"episode_length": float("nan")}])
def test_statistics_that_are_not_numbers(actor, info):
    class Talking(Lives):
        def step(self, action):
            return (*super().step(action)[:4], info)

    with pytest.raises(
        EnvironmentFault, match=rf"environment 0, end of an episode: info\['{next(iter(info))}'\] is"
    ):
        worker_of(actor(Talking), Talking).execute_timesteps(12)


# The glossary.


def test_the_glossary():
    check_metrics(METRICS)
    with pytest.raises(InputError, match=r"metric 'los' is not in the glossary.*Did you mean 'loss'"):
        check_metrics(["los"])
    assert all(f"| `{name}` | {metric.unit} |" in glossary_table() for name, metric in METRICS.items())


def test_a_metric_of_ones_own(actor, monkeypatch):
    monkeypatch.setattr("rlgraph.workers.metrics.METRICS", dict(METRICS))
    agent = actor()
    agent.metrics = lambda: {"surprise": 1.0}
    with pytest.raises(InputError, match="metric 'surprise' is not in the glossary"):
        worker_of(agent).execute_timesteps(5)
    define_metric("surprise", "How surprised the agent is.", "nats")
    worker_of(agent).execute_timesteps(5)
    with pytest.raises(SpecError, match="already means: How surprised"):
        define_metric("surprise", "Another.", "nats")


# Mistakes.


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"frameskip": 0}, "frameskip: expected an integer >= 1, given 0"),
        (
            {"max_timesteps_per_episode": 0},
            "max_timesteps_per_episode: expected an integer >= 1 or None, given 0",
        ),
        ({"num_envs": "x"}, "num_envs: expected an integer >= 1 or None, given 'x'"),
        ({"agent": "dqn"}, r"agent: expected an agent, as Agent.from_spec.* makes them, given 'dqn'"),
        ({"checkpoint_interval": 5}, "checkpoint_interval: expected store_checkpoint= beside it"),
    ],
)
def test_wrong_options(actor, options, said):
    with pytest.raises(SpecError, match=said):
        worker_of(**{"agent": actor(), **options})


@pytest.mark.slow
def test_processes_timeouts_and_restarts_reach_the_environments(make_agent):
    agent = make_agent("numpy", env={"type": "deterministic"}, update_spec={"do_updates": False})
    options = {"processes": 2, "step_timeout": 7.0, "max_restarts": 3}
    env = {"type": "faulty", "fault": "raise", "fault_step": 1, "steps_to_terminal": 2}
    worker = SingleThreadedWorker(agent, env, num_envs=3, vectorization="processes", **options)
    try:
        assert len(worker.vector_env.processes) == 2 and worker.vector_env.step_timeout == 7.0
        with (
            pytest.warns(RuntimeWarning),
            pytest.raises(EnvironmentFault, match="asked for.*after 3 restarts"),
        ):
            worker.execute_timesteps(1000)
    finally:
        worker.terminate()


def test_no_evaluation_beside_training_in_environments_made_already(make_agent):
    agent = make_agent("numpy", env={"type": "deterministic"})
    vector = make_vector_env({"type": "deterministic"}, 2)
    with pytest.raises(SpecError, match="evaluations need environments of their own"):
        SingleThreadedWorker(agent, vector, num_envs=2, evaluation_interval=10)

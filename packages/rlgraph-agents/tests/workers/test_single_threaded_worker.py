"""The training loop against runs worked out by hand in environments that count."""

import numpy as np
import pytest
from doubles import Episodes, kept, memory, raising, told

from rlgraph.agents import Agent
from rlgraph.core import NumericalError, SpecError
from rlgraph.environments import DeterministicEnv, EnvironmentFault, environment_seed
from rlgraph.spaces import FloatBox, IntBox
from rlgraph.workers import Callback, SingleThreadedWorker

COUNTING = {"type": "deterministic", "steps_to_terminal": 3, "reward_start": 1.0}


class Scripted(Episodes):
    """States are looked up in a script by (episode, step) and are 0.5 elsewhere."""

    def __init__(self, script=None):
        super().__init__(FloatBox(-1.0, 1.0, shape=(2,)), length=4)
        self.script = script or {}

    def state(self):
        return np.array([0.5, self.script.get((self.episode, self.steps), 0.5)], np.float32)


class Log(Callback):
    """Writes down all it is told."""

    def __init__(self, name="", events=None, stop=None):
        self.name, self.events, self.stop = name, [] if events is None else events, stop
        self.metrics = []

    def on_start(self, worker, timesteps):
        self.events.append(f"{self.name}start {timesteps}")

    def on_episode(self, worker, episode_return, length):
        self.events.append(f"{self.name}episode {episode_return:g} {length}")

    def on_report(self, worker, metrics):
        self.metrics.append(dict(metrics))
        self.events.append(f"{self.name}report {metrics['timesteps']:g}")

    def on_evaluation(self, worker, evaluation):
        self.events.append(f"{self.name}evaluation {evaluation.timesteps} {evaluation.mean:g}")
        return self.stop

    def on_end(self, worker):
        self.events.append(f"{self.name}end")


@pytest.fixture
def actor(make_agent):
    """Acts and observes, on NumPy: for what has nothing to do with learning."""
    return lambda env, **options: make_agent("numpy", env=env, update_spec={"do_updates": False}, **options)


@pytest.fixture
def agent(make_agent, backend):
    return make_agent(backend, env=COUNTING, update_spec={"update_interval": 4, "batch_size": 4})


# Results.


def test_one_environment(agent):
    result = agent.learn(10)
    assert (result.timesteps, result.episodes, result.updates) == (10, 3, 2)
    assert result.returns == (6.0, 6.0, 6.0)
    assert result.mean_return == 6.0
    assert (result.evaluations, result.interrupted) == ((), False)
    assert result.seconds > 0
    assert result.steps_per_second == pytest.approx(10 / result.seconds)
    assert (agent.timesteps, agent.updates) == (10, 2)


def test_several_environments(agent):
    result = agent.learn(14, num_envs=2)
    assert (result.timesteps, result.updates) == (14, 3)
    assert result.returns == (6.0,) * 4  # 7 steps in each
    assert memory(agent)["states"].ravel().tolist() == [0, 0, 1, 1, 2, 2] * 2 + [0, 0]
    assert memory(agent)["rewards"].tolist() == [1, 1, 2, 2, 3, 3] * 2 + [1, 1]


def test_steps_are_rounded_up_to_whole_rounds_of_all_environments(agent):
    result = agent.learn(10, num_envs=4)
    assert result.timesteps == agent.timesteps == 12
    assert result.evaluations == ()  # none was asked for, however far the run went
    assert result.updates == 3


def test_no_episode_ended(agent):
    result = agent.learn(2)
    assert (result.episodes, result.returns) == (0, ())
    assert np.isnan(result.mean_return)


def test_the_mean_is_that_of_the_last_hundred_episodes(actor):
    agent = actor(COUNTING)
    log = Log()
    growing = Episodes(length=1, reward=lambda env, action: env.episode + 1.0)  # 1, 2, 3 ...
    worker = SingleThreadedWorker(agent, growing, report_interval=130)
    result = worker.execute_timesteps(130, callbacks=log)
    assert result.returns == tuple(float(n) for n in range(1, 131))
    assert result.mean_return == np.mean(range(31, 131)) == 80.5
    assert log.metrics[-1]["mean_return"] == 80.5
    assert log.metrics[-1]["mean_length"] == 1.0


def test_every_call_is_a_run_of_its_own(agent):
    worker = SingleThreadedWorker(agent, COUNTING, evaluation_interval=6, evaluation_episodes=1)
    first, second = worker.execute_timesteps(9), worker.execute_timesteps(6)
    assert (first.timesteps, first.episodes, first.updates, len(first.evaluations)) == (9, 3, 2, 1)
    assert (second.timesteps, second.episodes, second.updates, len(second.evaluations)) == (6, 2, 1, 1)
    assert second.returns == (6.0, 6.0)
    assert worker.timesteps == agent.timesteps == 15
    assert len(worker.returns) == 5


# What reaches the memory.


def test_a_terminal_state_is_no_state_to_go_on_from(agent):
    agent.learn(7)
    assert memory(agent)["states"].ravel().tolist() == [0, 1, 2, 0, 1, 2, 0]
    assert memory(agent)["next_states"].ravel().tolist() == [1, 2, 3, 1, 2, 3, 1]
    assert memory(agent)["terminals"].tolist() == [False, False, True, False, False, True, False]
    assert memory(agent)["rewards"].tolist() == [1, 2, 3, 1, 2, 3, 1]


@pytest.mark.parametrize("num_envs", [1, 2])
def test_a_truncation_is_bootstrapped_from_the_true_last_state(agent, num_envs):
    result = agent.learn(
        7 * num_envs, env={**COUNTING, "steps_to_terminal": 9, "steps_to_truncation": 3}, num_envs=num_envs
    )
    assert result.returns == (6.0,) * 2 * num_envs
    assert not memory(agent)["terminals"].any()
    for i in range(num_envs):
        assert memory(agent)["states"][i::num_envs].ravel().tolist() == [0, 1, 2, 0, 1, 2, 0]
        assert memory(agent)["next_states"][i::num_envs].ravel().tolist() == [1, 2, 3, 1, 2, 3, 1]


def test_terminated_and_truncated_at_once_is_terminated(agent):
    agent.learn(3, env={**COUNTING, "steps_to_truncation": 3})
    assert memory(agent)["terminals"].tolist() == [False, False, True]


def test_the_actions_stored_are_the_actions_done(actor):
    done = []

    class Watching(DeterministicEnv):
        def step(self, action):
            done.append(int(action))
            return super().step(action)

    agent = actor(COUNTING, exploration_spec={"epsilon_spec": 1.0})
    agent.learn(40, env=lambda: Watching(5), num_envs=2)
    assert memory(agent)["actions"].tolist() == done
    assert sorted(set(done)) == [0, 1]


def test_exploration_follows_the_run(actor):
    agent = actor(COUNTING, exploration_spec={"epsilon_spec": [1.0, 0.0]})
    log = Log()
    agent.learn(100, callbacks=log, report_interval=50)
    # The progress told last is that before the step: 49 and 99 of 100.
    assert [metrics["epsilon"] for metrics in log.metrics] == pytest.approx([0.51, 0.01], abs=1e-6)


def test_environments_are_seeded_by_the_agents_seed(actor):
    made, factory = kept(Scripted)
    agent = actor(factory, seed=21)
    made.clear()
    agent.learn(10, num_envs=2)
    assert [environment.seeds for environment in made] == [[environment_seed(21, i), None] for i in (0, 1)]


# Callbacks.


def test_order_of_events(agent):
    log = Log()
    agent.learn(8, callbacks=log, report_interval=3, evaluation_interval=4, evaluation_episodes=2)
    assert log.events == [
        "start 8",
        "episode 6 3",
        "report 3",
        "evaluation 4 6",
        "episode 6 3",
        "report 6",
        "evaluation 8 6",
        "report 8",
        "end",
    ]


#: What an agent with a memory, one learning rate and random actions knows before the first update.
KNOWN = ("epsilon", "learning_rate", "replay_size", "steps_per_second", "seconds")


def test_reported_numbers(agent):
    log = Log()
    agent.learn(8, callbacks=[log], report_interval=4)
    first, second = log.metrics
    expected = {"timesteps": 4.0, "episodes": 1.0, "updates": 1.0, "mean_return": 6.0, "mean_length": 3.0}
    assert {name: first[name] for name in expected} == expected
    assert second["timesteps"] == 8.0
    assert second["episodes"] == second["updates"] == 2.0
    for metrics in (first, second):
        assert set(metrics) == {*expected, *KNOWN, "loss", "updates_per_second"}
        assert metrics["steps_per_second"] > 0
        assert metrics["loss"] > 0


def test_the_reported_loss_is_the_mean_of_the_interval(agent, monkeypatch):
    losses = iter([1.0, 2.0, 6.0, 4.0])
    monkeypatch.setattr(
        agent.learner, "_from_experience", lambda: agent.learner._learned({"loss": next(losses)})
    )
    log = Log()
    agent.learn(18, callbacks=log, report_interval=6)
    # Updates after steps 4 | 8, 12 | 16.
    assert [metrics["loss"] for metrics in log.metrics] == [1.0, 4.0, 4.0]


def test_nothing_is_reported_that_is_not_known(agent):
    log = Log()
    agent.learn(2, callbacks=log, report_interval=1)
    assert [set(metrics) for metrics in log.metrics] == [{"timesteps", "episodes", "updates", *KNOWN}] * 2


def test_several_callbacks_are_told_in_turn(agent):
    events = []
    agent.learn(3, callbacks=[Log("a ", events), Log("b ", events)])
    expected = ("start 3", "episode 6 3", "report 3", "end")
    assert events == [f"{name} {event}" for event in expected for name in "ab"]


def test_one_callback_ends_the_training_and_all_are_told(agent):
    events = []
    stopping = [Log("a ", events), Log("b ", events, stop=True), Log("c ", events, stop=False)]
    result = agent.learn(100, callbacks=stopping, evaluation_interval=5, evaluation_episodes=1)
    assert result.timesteps == 5
    assert not result.interrupted
    assert events[-9:] == [
        f"{name} {event}" for event in ("evaluation 5 6", "report 5", "end") for name in "abc"
    ]


@pytest.mark.parametrize("answer", [None, False, "no"])
def test_other_answers_end_nothing(agent, answer):
    result = agent.learn(12, callbacks=Log(stop=answer), evaluation_interval=5, evaluation_episodes=1)
    assert (result.timesteps, len(result.evaluations)) == (12, 2)


def test_evaluations_in_the_result(agent):
    result = agent.learn(12, evaluation_interval=5, evaluation_episodes=3, num_envs=2)
    assert [evaluation.timesteps for evaluation in result.evaluations] == [6, 10]
    assert [evaluation.returns for evaluation in result.evaluations] == [(6.0, 6.0, 6.0)] * 2
    assert agent.call_api_method("get_memory_size") == agent.timesteps == 12


# Ctrl-C and errors.


def test_ctrl_c_ends_in_good_order(agent):
    log = Log()

    def interrupt(worker, episode_return, length):
        if worker.timesteps_of_run == 6:
            raise KeyboardInterrupt

    result = agent.learn(100, callbacks=[told(on_episode=interrupt), log])
    assert result.interrupted
    assert (result.timesteps, result.returns) == (6, (6.0, 6.0))
    assert log.events[-1] == "end"
    again = agent.learn(6)
    assert (again.timesteps, again.interrupted) == (6, False)


def test_the_end_is_told_after_an_error(agent):
    log = Log()
    with pytest.raises(NumericalError, match=r"^dqn/loss: the loss of update 1 \(step 4\) is inf"):
        agent.learn(100, env=lambda: Episodes(length=5, reward=1e30), callbacks=log)
    assert log.events[-1] == "end"


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(("episode", "step"), [(1, 3), (2, 0)])
def test_a_state_that_is_not_finite(actor, episode, step, number):
    """Found in later episodes too, where states are no longer held against their Space."""
    made, factory = kept(lambda: Scripted({(episode, step): number} if len(made) == 2 else {}))
    agent = actor(Scripted())
    with pytest.raises(EnvironmentFault) as caught:
        agent.learn(100, env=factory, num_envs=3)
    said = f"Scripted, environment 2, step {step}: state[1] is {number}, it must be finite."
    assert str(caught.value) == said
    assert np.isfinite(memory(agent)["states"]).all() and np.isfinite(memory(agent)["next_states"]).all()
    assert agent.timesteps == (6 if step else 7) * 3


# Whose environments they are.


def test_environments_made_for_a_run_are_closed(actor):
    made, factory = kept(Scripted)
    agent = actor(Scripted())
    agent.learn(4, env=factory, num_envs=2)
    assert [environment.closed for environment in made] == [True, True]
    made.clear()
    with pytest.raises(KeyboardInterrupt):
        agent.learn(4, env=factory, callbacks=told(on_start=raising(KeyboardInterrupt)))
    assert [environment.closed for environment in made] == [True]


def test_an_instance_is_used_and_stays_open(actor):
    mine = Scripted()
    agent = actor(mine)
    agent.learn(9)
    agent.evaluate(2)
    # Episodes 0, 1 and the beginning of 2; then 3 and 4, and the reset behind it.
    assert mine.episode == 5
    assert not mine.closed


def test_an_instance_cannot_be_evaluated_in_while_it_trains(actor):
    """It would be reset in the middle of an episode."""
    mine = Scripted()
    with pytest.raises(SpecError, match="evaluation_interval: evaluations need environments of their own"):
        actor(mine).learn(10, evaluation_interval=5)


# Mistakes.


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"report_interval": 0}, "report_interval: expected an integer >= 1, given 0"),
        ({"evaluation_interval": 0}, "evaluation_interval: expected an integer >= 1 or None, given 0"),
        ({"evaluation_episodes": 0}, "evaluation_episodes: expected an integer >= 1, given 0"),
        ({"num_envs": 0}, "num_envs: expected an integer >= 1 or None, given 0"),
    ],
)
def test_wrong_options(agent, options, said):
    with pytest.raises(SpecError, match=said):
        agent.learn(10, **options)


def test_no_environment():
    agent = Agent.from_spec("dqn", state_space=FloatBox(shape=(2,)), action_space=IntBox(2), backend="numpy")
    for call in (lambda: agent.learn(10), lambda: agent.evaluate(1)):
        with pytest.raises(
            SpecError, match=r"the agent has no environment: give env= here or to Agent\.from_spec"
        ):
            call()


def test_several_of_one_instance(actor):
    agent = actor(Scripted())
    with pytest.raises(
        SpecError,
        match="num_envs: expected an id, a spec or a function, of which 2 environments can be made, or a vector",
    ):
        agent.learn(10, num_envs=2)


def test_a_second_run_sees_other_episodes(backend):
    environments = [Scripted(), Scripted()]
    agent = Agent.from_spec("dqn", env=environments[0], backend=backend, seed=5)
    for environment in environments:
        agent.learn(4, env=environment)
    first, second = (environment.seeds[0] for environment in environments)
    assert first == environment_seed(5, 0)
    assert second not in (first, None)

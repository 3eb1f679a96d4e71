"""Keys by the names of other libraries, or a level too high: refused, with the place where they stand here."""

from dataclasses import fields

import pytest

from rlgraph.agents import Agent, DQNAgent
from rlgraph.agents.agent import _worker_options
from rlgraph.agents.method_hints import IN_EVALUATE, IN_LEARN, OF_AN_AGENT
from rlgraph.core import ExecutionSpec, SpecError
from rlgraph.core.specs.parameters import parameters_of
from rlgraph.experience.option_hints import IN_UPDATES
from rlgraph.experience.specs import UpdateSpec
from rlgraph.learning.option_hints import IN_AN_AGENT, MINIBATCH_SIZES
from rlgraph.runs.configuration import apply_overrides, check
from rlgraph.runs.document_hints import IN_A_RUN
from rlgraph.runs.run_spec import RunSpec
from rlgraph.runs.schema import run_schema
from rlgraph.spaces import FloatBox, IntBox

SPACES = {"state_space": FloatBox(shape=(3,)), "action_space": IntBox(4)}


KNOWN = parameters_of(DQNAgent).named
#: The names that DQN lacks, and has under another one.
OF_DQN = {
    name: hint if isinstance(hint, str) else hint[0]
    for name, hint in IN_AN_AGENT.items()
    if name not in KNOWN
}
OF_DQN = {name: hint for name, hint in OF_DQN.items() if hint.partition(".")[0] in KNOWN}


@pytest.mark.parametrize("name", OF_DQN)
def test_every_name_is_refused_with_a_place_that_there_is(name):
    place = OF_DQN[name]
    document = {"agent": {"type": "dqn", name: 1}, "environment": "CartPole-v1", "steps": 1}
    with pytest.raises(SpecError) as caught:
        check(document)
    assert str(caught.value) == f"agent.{name}: DQNAgent has no such key. It is {place!r} here."


def test_the_last_part_of_every_place_is_a_key_somewhere():
    known = str([run_schema(), *(f.name for f in fields(ExecutionSpec)), "env"])
    places = {place for place in IN_A_RUN.values() if not place.endswith(".")}
    assert [place for place in places if f"'{place.rpartition('.')[2]}'" not in known] == []


def test_names_of_updates_and_runs():
    assert {hint for hint in IN_UPDATES.values() if not hint.endswith(".")} <= set(UpdateSpec.model_fields)
    places = {place for place in IN_A_RUN.values() if not place.endswith(".")}
    assert {place.partition(".")[0] for place in places} <= set(RunSpec.model_fields)
    with pytest.raises(SpecError) as caught:
        check(
            {
                "agent": {"type": "dqn", "update_spec": {"train_freq": 4}},
                "env": "CartPole-v1",
                "environment": "CartPole-v1",
                "steps": 1,
                "lr": 1,
                "n_envs": 2,
            }
        )
    assert str(caught.value).splitlines() == [
        "env: there is no such key. It is 'environment' here.",
        "lr: there is no such key. It is 'agent.optimizer_spec.learning_rate' here.",
        "n_envs: there is no such key. It is 'worker.num_envs' here.",
        "agent.update_spec.train_freq: there is no such key. It is 'update_interval' here.",
    ]


def test_arguments_of_the_class():
    with pytest.raises(SpecError) as caught:
        DQNAgent(**SPACES, gamma=0.9, buffer_size=100, dobule_q=True)
    assert str(caught.value).splitlines() == [
        "DQNAgent.gamma: DQNAgent has no such key. It is 'discount' here.",
        "DQNAgent.buffer_size: DQNAgent has no such key. It is 'memory_spec.capacity' here.",
        "DQNAgent.dobule_q: DQNAgent has no such key. Did you mean 'double_q'?",
    ]


def test_a_place_that_the_class_lacks_is_not_offered():
    class Plain(DQNAgent):
        def __init__(self, state_space, action_space, *, discount=0.9):
            raise AssertionError("it is not called")

    with pytest.raises(SpecError, match="Plain has no such key. It is 'discount' here"):
        Agent.from_spec({"type": Plain, "gamma": 1}, **SPACES)
    with pytest.raises(
        SpecError, match=r"Plain has no such key\. Known: action_space, discount, state_space"
    ):
        Agent.from_spec({"type": Plain, "tau": 1}, **SPACES)


def test_overrides():
    document = {"agent": {"type": "dqn"}, "environment": "CartPole-v1", "steps": 1}
    with pytest.raises(SpecError, match=r"^gamma: there is no 'gamma'\. It is 'discount' here\.$"):
        apply_overrides(document, ["gamma=0.9"])


@pytest.mark.parametrize(
    ("key", "place"),
    [
        *[(key, "worker.num_envs") for key in ("n_envs", "num_envs")],
        *[(key, "steps") for key in ("timesteps", "total_timesteps")],
        ("tensorboard_log", "logging.tensorboard"),
        ("eval_freq", "evaluation.interval"),
    ],
)
def test_in_a_document_the_run_answers_before_python(key, place):
    document = {"agent": {"type": "ppo"}, "environment": "CartPole-v1", "steps": 1}
    for path, said in (
        (key, f"there is no {key!r}. It is {place!r} here."),
        (f"agent.{key}", f"PPOAgent has no such key. It is {place!r} of the run."),
    ):
        with pytest.raises(SpecError) as caught:
            check(apply_overrides(document, [f"{path}=8"]))
        assert str(caught.value) == f"{path}: {said}"
    with pytest.raises(SpecError, match="The command line shows the progress: leave it out"):
        apply_overrides(document, ["verbose=1"])


@pytest.fixture(scope="module")
def drawing():
    return Agent.from_spec("random", env={"type": "deterministic"}, backend="numpy")


@pytest.mark.parametrize(
    ("method", "given", "said"),
    [
        (
            "learn",
            {"total_timesteps": 5},
            "total_timesteps: there is no such argument. It is 'timesteps' here.",
        ),
        ("learn", {"timesteps": 5, "n_envs": 2}, "n_envs: there is no such argument. It is 'num_envs' here."),
        (
            "learn",
            {"timesteps": 5, "report_intervl": 2},
            "report_intervl: there is no such argument. Did you mean 'report_interval'?",
        ),
        (
            "evaluate",
            {"n_eval_episodes": 5},
            "n_eval_episodes: there is no such argument. It is 'episodes' here.",
        ),
        (
            "evaluate",
            {"deterministic": False},
            "deterministic: there is no such argument. Give 'stochastic', which is the opposite.",
        ),
        ("evaluate", {"sede": 5}, "sede: there is no such argument. Did you mean 'seed'?"),
    ],
)
def test_arguments_of_methods(drawing, method, given, said):
    with pytest.raises(SpecError) as caught:
        getattr(drawing, method)(**given)
    assert str(caught.value) == f"{method}.{said}"


def test_names_of_methods_lead_somewhere(drawing):
    known = {
        "learn": {*parameters_of(Agent.learn).named, *_worker_options()},
        "evaluate": {*parameters_of(Agent.evaluate).named},
    }
    for method, names in (("learn", IN_LEARN), ("evaluate", IN_EVALUATE)):
        assert not names.keys() & known[method]
        assert {hint for hint in names.values() if not hint.endswith(".")} <= known[method]
    assert drawing.learn(3, num_envs=1).timesteps == 3
    with pytest.raises(
        SpecError, match=r"eval_env: .*Evaluations use new environments.*'evaluation_interval'"
    ):
        drawing.learn(3, eval_env="CartPole-v1")


def test_the_environment_by_another_name():
    with pytest.raises(SpecError) as caught:
        Agent.from_spec("dqn", environment="CartPole-v1", verbose=1)
    assert str(caught.value).splitlines() == [
        "agent.environment: DQNAgent has no such key. It is 'env' here.",
        "agent.verbose: DQNAgent has no such key. Give progress_bar=True to agent.learn.",
    ]


def test_an_environment_in_the_place_of_spaces():
    agent = DQNAgent(env={"type": "deterministic"}, backend="numpy", discount=0.5, network_spec=[4])
    assert agent.learn(3).timesteps == 3 and agent.preset is None
    with pytest.raises(SpecError, match="agent.gamma: DQNAgent has no such key. It is 'discount' here"):
        DQNAgent(env={"type": "deterministic"}, gamma=0.5)


@pytest.mark.parametrize(
    "given", [(), ("MlpPolicy", "CartPole-v1"), ("MlpPolicy", object()), (object(),), (FloatBox(shape=(2,)),)]
)
def test_what_is_neither_spaces_nor_an_environment(given):
    with pytest.raises(
        SpecError, match=r"DQNAgent: expected a state_space and .* as in DQNAgent\(env='CartPole-v1'\)"
    ):
        DQNAgent(*given)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("predict", r"Call get_actions\(states, use_exploration=False\)"),
        ("save", "It is 'store_model' here"),
        ("num_timesteps", "It is 'timesteps' here"),
        ("leran", "Did you mean 'learn'"),
    ],
)
def test_attributes_of_other_libraries(drawing, name, said):
    with pytest.raises(AttributeError, match=f"'RandomAgent' object has no attribute '{name}'. {said}"):
        getattr(drawing, name)
    assert not hasattr(drawing, name)


def test_other_names_of_attributes_lead_somewhere(drawing):
    assert not any(hasattr(drawing, name) for name in OF_AN_AGENT)
    assert all(hasattr(drawing, hint) for hint in OF_AN_AGENT.values() if not hint.endswith("."))


@pytest.mark.parametrize("key", MINIBATCH_SIZES)
def test_the_size_of_a_minibatch_is_answered_by_their_number(key):
    """The number that divides a rollout of all environments into parts of this size, if the document knows it."""

    def refused(agent, **run):
        with pytest.raises(SpecError) as caught:
            check({"agent": {"type": "ppo", **agent}, "environment": "CartPole-v1", "steps": 1, **run})
        return str(caught.value)

    way = f"Give a number of parts: 'num_minibatches' = 'rollout_length' x environments / {key}."
    told = f"agent.{key}: PPOAgent has no such key. {way}"
    assert refused({key: 32}) == f"{told} Here: 128 x 1 / 32 = 4."
    wide = {"rollout_length": 2048, key: 64}
    assert refused(wide, worker={"num_envs": 8}) == f"{told} Here: 2048 x 8 / 64 = 256."
    assert refused({key: "64"}) == told
    assert refused(wide, executor_spec="sync_batch") == told
    assert refused({}, **{key: 64}) == f"{key}: there is no such key. {way} Here: 128 x 1 / 64 = 2."
    document = {"agent": {"type": "ppo"}, "environment": "CartPole-v1", "steps": 1, "worker": {"num_envs": 2}}
    for path, said in ((key, f"there is no {key!r}."), (f"agent.{key}", "PPOAgent has no such key.")):
        with pytest.raises(SpecError) as caught:
            check(apply_overrides(document, [f"{path}=16"]))
        assert str(caught.value) == f"{path}: {said} {way} Here: 128 x 2 / 16 = 16."
    with pytest.raises(SpecError) as caught:
        Agent.from_spec({"type": "ppo", key: 64}, env="CartPole-v1", backend="numpy")
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("agent", "key", "hint"),
    [
        ("dqn", "batch_size", "It is 'agent.update_spec.batch_size' here."),
        ("dqn", "n_steps", "It is 'agent.n_step' here."),
        ("ppo", "n_steps", "It is 'agent.rollout_length' here."),
        ("ppo", "ent_coef", "It is 'agent.weight_entropy' here."),
        ("sac", "ent_coef", "It is 'agent.initial_alpha' here."),
        ("a2c", "batch_size", "A batch is a rollout: give 'rollout_length' = batch_size / environments."),
    ],
)
def test_a_name_at_the_top_of_a_run_is_answered_for_its_agent(agent, key, hint):
    with pytest.raises(SpecError) as caught:
        check({"agent": {"type": agent}, "environment": "CartPole-v1", "steps": 1, key: 1})
    assert str(caught.value).splitlines()[0] == f"{key}: there is no such key. {hint}"

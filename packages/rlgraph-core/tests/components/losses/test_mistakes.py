"""What losses refuse: options, and Spaces of their arguments."""

import math

import pytest

from rlgraph.core import AssemblyError, SpecError, registry
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox, SpaceError, Tuple
from rlgraph.testing import ComponentTest
from rlgraph.testing.conformance.cases import CASES

UNIT, POSITIVE = r"expected a number in \[0, 1\]", "expected a number >= 0"
SPECS = {"distance": "euclidian_distance_loss", "kind": "categorical_cross_entropy_loss"}


def container(specs, weights=None):
    return {"loss_functions_spec": specs, "weights": weights}


#: A loss, its options, and the message.
OPTIONS = [
    *(("dqn_loss", {"discount": discount}, f"loss.discount: {UNIT}") for discount in (-0.1, 1.1)),
    ("dqn_loss", {"td_aggregation": "mean_eror"}, "loss.td_aggregation: unknown 'mean_eror'.*mean_error"),
    ("dqfd_loss", {"expert_margin": -1}, f"dqfd-loss.expert_margin: {POSITIVE}, given -1"),
    ("dqfd_loss", {"td_aggregation": "mean"}, "dqfd-loss.td_aggregation: unknown"),
    ("categorical_dqn_loss", {"low": 1.0, "high": 0}, "loss.high: expected a number above low, 1.0, given 0"),
    ("quantile_dqn_loss", {"huber_delta": -1.0}, f"quantile-dqn-loss.huber_delta: {POSITIVE}"),
    ("quantile_dqn_loss", {"discount": 2}, f"quantile-dqn-loss.discount: {UNIT}"),
    ("actor_critic_loss", {"weight_vf": -1}, f"actor-critic-loss.weight_vf: {POSITIVE}"),
    ("ppo_loss", {"clip_ratio": -0.1}, f"ppo-loss.clip_ratio: {POSITIVE}"),
    ("ppo_loss", {"weight_entropy": [0.1, -0.1]}, f"ppo-loss.weight_entropy: {POSITIVE}"),
    ("ppo_loss", {"ratio_of": "parts"}, "ppo-loss.ratio_of: unknown 'parts'.*'part'"),
    ("impala_loss", {"reward_clipping": "clamp"}, "impala-loss.reward_clipping: unknown 'clamp'.*clamp_one"),
    *(
        ("impala_loss", {name: value}, f"impala-loss.{name}: expected a number > 0, or None")
        for name in ("rho_bar", "c_bar", "rho_bar_pg")
        for value in (-1, 0, "a", math.nan, True)
    ),
    ("sac_loss", {"temperature_loss": "log"}, "sac-loss.temperature_loss: unknown 'log'.*log_alpha"),
    ("sac_loss", {"discount": 1.5}, f"sac-loss.discount: {UNIT}"),
    ("sac_loss", {"target_entropy": "auto"}, "sac-loss.target_entropy: expected a number, given 'auto'"),
    ("td3_loss", {"discount": 2.0}, f"td3-loss.discount: {UNIT}"),
    *(
        (f"{name}_loss", {"num_q_functions": number}, f"{name}-loss.num_q_functions: expected an integer in")
        for name in ("sac", "td3", "iql")
        for number in (0, -1, 2.5, "two", True)
    ),
    ("iql_loss", {"expectile": 1.0}, r"iql-loss.expectile: expected a number in \(0, 1\)"),
    ("iql_loss", {"inverse_temperature": -1.0}, f"iql-loss.inverse_temperature: {POSITIVE}"),
    ("iql_loss", {"weight_limit": 0.0}, "iql-loss.weight_limit: expected a number > 0"),
    (
        "negative_log_likelihood_loss",
        {"distribution_spec": {"type": "clip"}},
        "distribution_spec: expected a component with an API method log_prob",
    ),
    ("container_loss", container({}), "container-loss.loss_functions_spec: expected a dict or a list"),
    ("container_loss", container(SPECS, {"kind": 1.0}), "loss.weights: expected a weight for each of"),
    *(
        (
            "container_loss",
            container(SPECS, {"distance": weight, "kind": 1}),
            "weights.distance: expected a number",
        )
        for weight in ("high", math.nan)
    ),
    (
        "container_loss",
        container({"kind": "categorical_cross_entrpy_loss"}),
        "loss_functions_spec.kind.*categorical_cross_entropy_loss",
    ),
    (
        "container_loss",
        container({"kind": "dense"}),
        "loss_functions_spec.kind.type: 'dense' is a Dense, expected a LossFunction",
    ),
]


@pytest.mark.parametrize(("kind", "options", "message"), OPTIONS)
def test_options(kind, options, message):
    with pytest.raises(SpecError, match=message):
        registry("rlgraph.components").load(kind)(**options)


TIME = {"add_batch_rank": True, "add_time_rank": True}
TIME_MAJOR = {**TIME, "time_major": True}
ITEM, STEPS = FloatBox(add_batch_rank=True), FloatBox(**TIME_MAJOR)
THREE, FOUR, ONE = (FloatBox(shape=(size,), add_batch_rank=True) for size in (3, 4, 1))
CLASSES, TWO_INTS = IntBox(3, add_batch_rank=True), IntBox(4, shape=(2,), add_batch_rank=True)
LOG_PROBS = Dict(move=FloatBox(), turn=FloatBox(shape=(2,)), add_batch_rank=True)
PART_VALUES = Dict(
    jump=FloatBox(shape=(2,)), move=Tuple(FloatBox(shape=(4,)), FloatBox(shape=(2, 2))), add_batch_rank=True
)
IMPALA = CASES["impala_loss"].spaces
BATCH_MAJOR = {name: space.with_extra_ranks(True, 4, time_major=False) for name, space in IMPALA.items()}
PAIR = Tuple(FloatBox(), FloatBox(), add_batch_rank=True)
OTHER_RANKS = "labels: expected the batch and time ranks of parameters"


def values(space):
    return dict.fromkeys(("q_values", "q_next", "q_next_target"), space)


def labelled(parameters, labels):
    return {"parameters": parameters, "labels": labels}


#: A case of a loss, what differs from its Spaces (None: it is missing), and the message.
SPACES = [
    *(
        (case, *row)
        for case in ("dqn_loss", "dqn_loss_double")
        for row in (
            ({"q_next": THREE}, "q_next: expected the shape of q_values"),
            ({"q_next_target": THREE}, "q_next_target: expected the shape of q_values"),
            ({"q_next": PART_VALUES}, "q_next: expected the parts of q_values"),
            ({"actions": IntBox(5, add_batch_rank=True)}, "actions: expected one of 4 actions"),
            ({"actions": TWO_INTS}, "actions: .*without the last axis, of actions"),
            ({"actions": IntBox(4)}, "actions: expected the batch rank of q_values"),
            ({"actions": IntBox(4, shape=(5,))}, "actions: expected the batch rank of q_values"),
            (
                {"actions": ITEM},
                'actions: expected an IntBox or a BoolBox.*"convert_type", "to_dtype": "int"',
            ),
            ({"rewards": FloatBox(**TIME)}, "terminals: expected the ranks of rewards"),
            (
                {"rewards": ONE},
                "loss: rewards: expected one number per item",
            ),  # it would broadcast over all pairs
            (
                {**values(FloatBox(shape=(4,), **TIME)), "actions": IntBox(4, **TIME)},
                "q_values: expected the ranks of rewards",
            ),
            *(
                (values(space), r"q_values: expected values of one integer, \[B, A\].*pass action_space")
                for space in (Dict(a=THREE, add_batch_rank=True), FloatBox(shape=(2, 3), add_batch_rank=True))
            ),
        )
    ),
    (
        "dqn_loss_parts",
        {"q_next_target": PART_VALUES},
        "q_next_target/move/.*: expected the shape of q_values",
    ),
    ("dqfd_loss", {"expert_margins": ONE}, "expert_margins: expected one number per item"),
    (
        "dqfd_loss",
        {"apply_demo_loss": BoolBox(shape=(1,), add_batch_rank=True)},
        "apply_demo_loss: expected one number per item",
    ),
    ("dqfd_loss", {"apply_demo_loss": ITEM}, "apply_demo_loss: expected a BoolBox"),
    ("categorical_dqn_loss", values(FOUR), r"q_values: expected .*\[B, A, N\], N at least 2"),
    (
        "categorical_dqn_loss",
        values(FloatBox(shape=(4, 1), add_batch_rank=True)),
        r"q_values: expected .*\[B, A, N\], N at least 2",
    ),
    ("quantile_dqn_loss", values(FOUR), r"q_values: expected .*\[B, A, N\], N at least 1"),
    *(
        (case, {name: FloatBox(shape=(4, 6), add_batch_rank=True)}, f"{name}: expected the shape of q_values")
        for case in ("categorical_dqn_loss", "quantile_dqn_loss")
        for name in ("q_next", "q_next_target")
    ),
    (
        "quantile_dqn_loss",
        {"actions": TWO_INTS},
        "actions: .*without the last two axes, of actions and atoms",
    ),
    ("actor_critic_loss", {"entropy": None}, "pass the argument entropy, or set weight_entropy to 0"),
    *(
        (case, {name: ITEM}, f"{name}: expected the ranks of state_values")
        for case in ("actor_critic_loss_sequences", "ppo_loss_batch_major")
        for name in ("log_probs", "entropy")
    ),
    ("ppo_loss_parts", {"entropy": None}, "weight_entropy is not 0: pass the argument entropy"),
    (
        "ppo_loss_all_options",
        {"progress": None},
        "clip_ratio changes over training.*pass the argument progress",
    ),
    (
        "ppo_loss",
        {"sequence_length": IntBox(add_batch_rank=True)},
        "sequence_length needs items with time rank",
    ),
    ("ppo_loss", {"prev_log_probs": STEPS}, "prev_log_probs: expected the ranks of state_values"),
    ("ppo_loss", {"entropy": FloatBox()}, "entropy: expected the ranks of state_values"),
    (
        "ppo_loss",
        {"log_probs": LOG_PROBS, "prev_log_probs": LOG_PROBS.with_extra_ranks(True, True, time_major=True)},
        "prev_log_probs/move: expected the ranks of state_values",
    ),
    ("ppo_loss", {"log_probs": LOG_PROBS}, "prev_log_probs: expected the parts of log_probs"),
    (
        "ppo_loss",
        {"prev_log_probs": FloatBox(shape=(2,), add_batch_rank=True)},
        "prev_log_probs: expected the shape of log_probs",
    ),
    (
        "ppo_loss",
        {"prev_state_values": FloatBox(shape=(1,))},
        "prev_state_values: expected the ranks of state_values",
    ),
    ("ppo_loss", {"progress": int}, "progress: expected the fraction of training"),
    ("ppo_loss", {"progress": ITEM}, "progress: expected the fraction of training"),
    (
        "ppo_loss",
        {"log_probs": Dict(log_likelihood=float, nn_outputs=float, add_batch_rank=True)},
        r'log_probs: .*all outputs of a policy.*pass its \["log_likelihood"\]',
    ),
    (
        "impala_loss",
        {**BATCH_MAJOR, "bootstrap_values": ITEM},
        r"state_values: expected sequences, time first, \[T, B\].*time_major",
    ),
    ("impala_loss", {"log_probs": ITEM}, "log_probs: expected the ranks of state_values"),
    ("impala_loss", {"bootstrap_values": ONE}, "bootstrap_values: expected one float"),
    (
        "impala_loss",
        {"truncations": IMPALA["terminals"]},
        "bootstrap_values: with truncations expected the value of the state",
    ),
    ("impala_loss", {"terminals": IMPALA["rewards"]}, "terminals: expected a BoolBox"),
    (
        "sac_loss",
        {"q_values": ITEM},
        "q_values: expected a tuple with the values of 2 critics.*num_q_functions",
    ),
    (
        "sac_loss",
        {"q_values": Tuple(FloatBox(), FloatBox(shape=(1,)), add_batch_rank=True)},
        r"q_values\[1\]: expected \[B\].*squeeze",
    ),
    ("sac_loss", {"rewards": ONE}, "rewards: expected one number per item"),
    ("sac_loss", {"alpha": ONE}, "alpha: expected one temperature for all items"),
    ("sac_loss", {"log_probs_sampled": FloatBox(**TIME)}, "log_probs_sampled: expected the ranks of rewards"),
    *(
        (
            "sac_loss_discrete",
            dict.fromkeys(("log_probs_next_sampled", "log_probs_sampled"), space),
            r"log_probs_next_sampled: with discrete=True expected .*\[B, A\]",
        )
        for space in (ITEM, Dict(a=THREE, add_batch_rank=True))
    ),
    ("sac_loss_discrete", {"actions": None}, "discrete=True needs the argument actions"),
    (
        "td3_loss_one_critic",
        {"q_values_next": PAIR},
        "q_values_next: expected a tuple with the values of 1 critics",
    ),
    (
        "iql_loss",
        {"q_values": Tuple(FloatBox(), add_batch_rank=True)},
        "q_values: expected a tuple with the values of 2 critics",
    ),
    *(
        (f"categorical_cross_entropy_loss{which}", labelled(parameters, labels), message)
        for which, parameters, labels, message in (
            ("", THREE, THREE, "labels: expected one of 3 classes.*sparse=False"),
            ("", THREE, IntBox(4, add_batch_rank=True), "has 4 classes.*logits for 3"),
            ("", ITEM, CLASSES, "parameters: expected a FloatBox of logits"),
            ("", FloatBox(shape=(3,), **TIME_MAJOR), CLASSES, OTHER_RANKS),
            ("_regularized", THREE, CLASSES, "labels: expected probabilities of 3 classes.*sparse=True"),
            ("_regularized", THREE, FloatBox(shape=(3,), **TIME_MAJOR), OTHER_RANKS),
        )
    ),
    ("euclidian_distance_loss", labelled(THREE, ITEM), r"labels: expected the shape of parameters, \(3,\)"),
    ("euclidian_distance_loss", labelled(STEPS, ITEM), OTHER_RANKS),
    ("euclidian_distance_loss", labelled(ITEM, STEPS), OTHER_RANKS),
    ("euclidian_distance_loss", labelled(STEPS, FloatBox(**TIME)), OTHER_RANKS),
    (
        "euclidian_distance_loss",
        {**labelled(ITEM, ITEM), "weights": FloatBox(**TIME)},
        "weights: expected the batch and time ranks of parameters",
    ),
    (
        "negative_log_likelihood_loss_of_a_distribution",
        {"labels": CLASSES.with_extra_ranks(True, True)},
        OTHER_RANKS,
    ),
    (
        "negative_log_likelihood_loss_of_a_distribution",
        {"labels": None},
        "a distribution needs the argument labels",
    ),
    *(
        (case, {"sequence_length": space}, "sequence_length: expected .*, one length per sequence")
        for case in ("actor_critic_loss_sequences", "euclidian_distance_loss_sequences")
        for space in (IntBox(4), ITEM, IntBox(4, **TIME), TWO_INTS)
    ),
]


@pytest.mark.parametrize(("case", "changed", "message"), SPACES)
def test_spaces(case, changed, message):
    spaces = {name: space for name, space in {**CASES[case].spaces, **changed}.items() if space is not None}
    with pytest.raises((SpaceError, AssemblyError), match=message):
        ComponentTest(CASES[case].make(), spaces, backend="numpy")

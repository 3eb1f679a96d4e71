"""A policy with nested actions: log-likelihoods of ``{move: {x, y}, grip}``, RLgraph's program against code by hand.

A shared layer, an action layer for each part (two of integers, one of bools), the distributions, the sum over the
parts. Both sides take and return NumPy arrays, the features too. The code by hand computes what these distributions
compute, on the same weights, by the fastest calls of each framework that do it safely, and looks at no argument.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from measure import arguments, compared, interleaved, report

from rlgraph.components import Policy
from rlgraph.core import GraphExecutor
from rlgraph.spaces import BoolBox, Dict, FloatBox, IntBox

TARGET = 1.15
BATCH_SIZES = (1, 64)
UNITS, STATE_SIZE = 64, 8
#: The layers of the policy: the shared one, and one per part of an action.
LAYERS = ("network/dense-0", "grip/action-layer", "move-x/action-layer", "move-y/action-layer")
IMPOSSIBLE = -1e30


def main() -> None:
    options = arguments(__doc__, backends=("torch", "tf", "numpy")).parse_args()
    if options.backend == "tf":
        import by_hand.flat_tf  # noqa: F401  (it sets TensorFlow's threads, which has to come first)
    actions = Dict(move=Dict(x=IntBox(3), y=IntBox(5)), grip=BoolBox())
    spaces = {
        "observations": FloatBox(shape=(STATE_SIZE,), add_batch_rank=True),
        "actions": actions.with_batch_rank(),
    }
    policy = Policy([{"type": "dense", "units": UNITS, "activation": "relu"}], actions)
    specification = {"threads": 1, "seed": 1} if options.backend == "torch" else {"seed": 1}
    executor = GraphExecutor(policy, spaces, backend=options.backend, execution_spec=specification)
    made = {"torch": by_hand_torch, "tf": by_hand_tf, "numpy": by_hand_numpy}[options.backend]
    program = executor.program("get_log_likelihood")
    functions = {
        "by hand": made(weights_of(executor.get_weights())),
        "rlgraph": program,
    }
    rows = []
    for size in BATCH_SIZES:
        given = [space.sample(size, rng=np.random.default_rng(0)) for space in spaces.values()]
        subjects = {name: partial(function, *given) for name, function in functions.items()}
        for name in ("log_likelihood", "nn_outputs"):
            np.testing.assert_allclose(*(subject()[name] for subject in subjects.values()), rtol=1e-4)
        rows += compared(interleaved(subjects), "by hand", "us", 1e6, TARGET, f"batch {size}, ")
    report("policy", rows, options)


def weights_of(weights: Mapping[str, Any]) -> list[Any]:
    """Weights and biases of `LAYERS`."""
    found = []
    for layer in LAYERS:
        for kind in ("weights", "biases"):
            (value,) = (value for name, value in weights.items() if name.endswith(f"{layer}/{kind}"))
            found.append(value.copy())
    return found


def by_hand_torch(weights: list[Any]) -> Callable[[Any, Any], Any]:
    """``f(states, actions) -> {log-likelihoods [B], features [B, N]}``."""
    import torch
    from torch import addmm, from_numpy, log_softmax, where
    from torch.nn.functional import logsigmoid

    nll_loss = torch._C._nn.nll_loss_nd

    w, b, w_grip, b_grip, w_x, b_x, w_y, b_y = map(torch.from_numpy, weights)

    def categorical(logits: Any, taken: Any) -> Any:
        log_p = log_softmax(logits, -1).clamp_min(IMPOSSIBLE)
        return nll_loss(log_p, from_numpy(taken), None, 0, -1).neg_()

    def judge(states: Any, actions: Any) -> Any:
        features = addmm(b, from_numpy(states), w).relu_()
        logits = addmm(b_grip, features, w_grip).reshape(-1)
        grip = logsigmoid(where(from_numpy(actions["grip"]), logits, -logits))
        move = actions["move"]
        x = categorical(addmm(b_x, features, w_x), move["x"])
        total = grip + x + categorical(addmm(b_y, features, w_y), move["y"])
        return {"log_likelihood": total.numpy(), "nn_outputs": features.numpy()}

    return judge


def by_hand_numpy(weights: list[Any]) -> Callable[[Any, Any], Any]:
    """``f(states, actions) -> {log-likelihoods [B], features [B, N]}``."""
    w, b, w_grip, b_grip, w_x, b_x, w_y, b_y = weights

    def categorical(logits: Any, taken: Any) -> Any:
        shifted = logits - np.maximum.reduce(logits, -1, keepdims=True)
        log_p = shifted - np.log(np.add.reduce(np.exp(shifted), -1, keepdims=True))
        return np.maximum(log_p, IMPOSSIBLE)[np.arange(len(taken)), taken]

    def judge(states: Any, actions: Any) -> Any:
        features = np.maximum(states.dot(w) + b, 0.0)
        logits = (features.dot(w_grip) + b_grip).reshape(-1)
        signed = np.where(actions["grip"], logits, -logits)
        grip = -np.logaddexp(0.0, -signed)
        move = actions["move"]
        x = categorical(features.dot(w_x) + b_x, move["x"])
        total = grip + x + categorical(features.dot(w_y) + b_y, move["y"])
        return {"log_likelihood": total, "nn_outputs": features}

    return judge


def by_hand_tf(weights: list[Any]) -> Callable[[Any, Any], Any]:
    """``f(states, actions) -> {log-likelihoods [B], features [B, N]}``."""
    import tensorflow as tf
    from by_hand.flat_tf import Parameters, direct, tensor

    names = [f"{i:02}" for i in range(len(weights))]
    parameters = Parameters(dict(zip(names, weights, strict=True)), names)

    def layer(features: Any, w: Any, b: Any) -> Any:
        return tf.nn.bias_add(tf.matmul(features, w), b)

    def categorical(logits: Any, taken: Any) -> Any:
        log_p = tf.maximum(tf.nn.log_softmax(logits), IMPOSSIBLE)
        return tf.gather(log_p, taken, batch_dims=1)

    def likelihoods(states: Any, grip: Any, x: Any, y: Any) -> Any:
        w, b, w_grip, b_grip, w_x, b_x, w_y, b_y = parameters.cut(parameters.flat.read_value())
        features = tf.nn.relu(layer(states, w, b))
        logits = tf.reshape(layer(features, w_grip, b_grip), [-1])
        gripped = tf.math.log_sigmoid(tf.where(grip, logits, -logits))
        moved = categorical(layer(features, w_x, b_x), x) + categorical(layer(features, w_y, b_y), y)
        return gripped + moved, features

    call = direct(
        likelihoods,
        [
            tf.TensorSpec([None, STATE_SIZE], tf.float32),
            tf.TensorSpec([None], tf.bool),
            tf.TensorSpec([None], tf.int64),
            tf.TensorSpec([None], tf.int64),
        ],
        shortest=True,
    )

    def judge(states: Any, actions: Any) -> Any:
        move = actions["move"]
        given = (states, actions["grip"], move["x"], move["y"])
        total, features = call([tensor(array) for array in given])
        return {"log_likelihood": total.numpy(), "nn_outputs": features.numpy()}

    return judge

"""The step of each optimizer against the framework's own, and what watching the gradients costs.

6 variables of 5,000 numbers together, and 6 of 1.7 million. Ours is a call that derives a loss and steps, less a call
that only derives it. Theirs is a step on gradients that are there; of Keras less an empty `tf.function`. Figures are
processor time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from measure import Figure, Row, arguments, interleaved, report

from rlgraph.components import Optimizer
from rlgraph.core import Component, GraphExecutor, gradients, graph_fn, rlgraph_api
from rlgraph.spaces import FloatBox

#: Shapes of weights and biases of three layers.
SIZES = {
    "small": [(4, 64), (64,), (64, 64), (64,), (64, 8), (8,)],
    "large": [(400, 1000), (1000,), (1000, 1200), (1200,), (1200, 64), (64,)],
}
#: Name -> (the class of torch.optim and the one of Keras, options of ours and of theirs).
OPTIMIZERS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "sgd": ("SGD", "SGD", {}),
    "momentum": ("SGD", "SGD", {"momentum": 0.9}),
    "adam": ("Adam", "Adam", {}),
    "adamw": ("AdamW", "AdamW", {}),
    "rmsprop": ("RMSprop", "RMSprop", {}),
    "nadam": ("NAdam", "Nadam", {}),
    "adagrad": ("Adagrad", "Adagrad", {}),
    "adadelta": ("Adadelta", "Adadelta", {}),
}
#: Options whose cost is measured on Adam.
WATCHED = {
    "adam, clip_grad_norm": {"clip_grad_norm": 0.5},
    "adam, skip": {"non_finite": "skip"},
    "adam, error": {"non_finite": "error"},
}
RATE = 1e-3


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--size", choices=tuple(SIZES), default="small")
    parser.add_argument("--compile", action="store_true", help="ours compiled")
    options = parser.parse_args()
    shapes = SIZES[options.size]
    peers = {"torch": on_torch, "tf": on_tf}[options.backend]
    subjects: dict[str, Callable[[], Any]] = {"gradients": on_rlgraph(None, shapes, options)}
    subjects["statistics"] = on_rlgraph({"type": "adam"}, shapes, options, "look")
    for name, (torch_class, keras_class, more) in OPTIMIZERS.items():
        kind = {"torch": torch_class, "tf": keras_class}[options.backend]
        spec = {"type": "sgd" if name == "momentum" else name, **more}
        subjects[f"{name}, rlgraph"] = on_rlgraph(spec, shapes, options)
        subjects[f"{name}, peer"] = peers(kind, more, shapes)
    for name, more in WATCHED.items():
        subjects[f"{name}, rlgraph"] = on_rlgraph({"type": "adam", **more}, shapes, options)
    subjects["nothing"] = peers(None, {}, shapes)
    figures = interleaved(subjects, clock=time.process_time, blocks=40 if options.size == "small" else 8)
    rows = [Row("deriving the loss", figures["gradients"].times(1e6), "us")]
    peer = {"torch": "torch.optim", "tf": "Keras"}[options.backend]
    for name in OPTIMIZERS:
        yardstick = figures[f"{name}, peer"].beyond(figures["nothing"])
        ours = figures[f"{name}, rlgraph"].beyond(figures["gradients"])
        rows.append(Row(f"{name}, {peer}", yardstick.times(1e6), "us"))
        rows.append(Row(f"{name}, rlgraph", ours.times(1e6), "us", ours.over(yardstick), 1.0))
    rows += [_watching(name, figures) for name in [*(f"{name}, rlgraph" for name in WATCHED), "statistics"]]
    report(f"optimizers, {options.size}", rows, options, ("keras",) if options.backend == "tf" else ())


def _watching(name: str, figures: dict[str, Figure]) -> Row:
    """What it takes beyond a step of Adam, or beyond the derivative."""
    plain = figures["gradients" if name == "statistics" else "adam, rlgraph"]
    return Row(f"{name}, more than without", figures[name].beyond(plain).times(1e6), "us")


def on_rlgraph(
    spec: dict[str, Any] | None, shapes: Any, options: Any, method: str = "update"
) -> Callable[[], Any]:
    """Derives ``sum(w * direction)`` by all variables w, and steps."""

    class Weights(Component):
        def create_variables(self, input_spaces: Any, action_space: Any = None) -> None:
            self.all = [
                self.get_variable(f"w{i}", FloatBox(shape=shape), initializer="normal")
                for i, shape in enumerate(shapes)
            ]

        @rlgraph_api
        def get_loss(self) -> Any:
            return self._loss()

        @graph_fn
        def _loss(self, ops: Any) -> Any:
            return sum(ops.sum(w) for w in self.all)

    class Learner(Component):
        def __init__(self) -> None:
            self.weights = Weights(scope="weights")
            self.optimizer = None if spec is None else Optimizer.from_spec({"learning_rate": RATE, **spec})
            super().__init__(self.weights, *([self.optimizer] if self.optimizer else []), scope="learner")

        @rlgraph_api
        def update(self) -> Any:
            loss, variables = self.weights.get_loss(), self.weights.variables()
            if self.optimizer is None:
                return self._first(gradients(loss, variables))
            self.optimizer.step(variables, loss)
            return loss

        @rlgraph_api
        def look(self) -> Any:
            if self.optimizer is None:
                return None
            loss, variables = self.weights.get_loss(), self.weights.variables()
            return self.optimizer.get_gradient_statistics(self.optimizer.calculate_gradients(variables, loss))

        @graph_fn
        def _first(self, ops: Any, found: Any) -> Any:
            return found[0][0] * 1.0

    execution = {"seed": 1, **({"compile": True} if options.compile else {})}
    executor = GraphExecutor(Learner(), {}, backend=options.backend, execution_spec=execution)
    return lambda: executor.execute(method)


def on_torch(kind: str | None, more: dict[str, Any], shapes: Any) -> Callable[[], Any]:
    """The fused step where there is one, else the one over lists of tensors."""
    import torch

    torch.set_num_threads(1)
    if kind is None:
        return lambda: None
    parameters = [torch.nn.Parameter(torch.randn(shape)) for shape in shapes]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    make = getattr(torch.optim, kind)
    try:
        optimizer = make(parameters, lr=RATE, fused=True, **more)
    except (TypeError, RuntimeError):
        optimizer = make(parameters, lr=RATE, foreach=True, **more)
    return lambda: optimizer.step()


def on_tf(kind: str | None, more: dict[str, Any], shapes: Any) -> Callable[[], Any]:
    import keras
    import tensorflow as tf

    variables = [keras.Variable(tf.random.normal(shape)) for shape in shapes]
    grads = [tf.ones(shape) for shape in shapes]
    if kind is None:
        return tf.function(lambda: tf.constant(0.0), autograph=False)
    optimizer = getattr(keras.optimizers, kind)(RATE, **more)
    optimizer.build(variables)
    return tf.function(lambda: optimizer.apply_gradients(zip(grads, variables, strict=True)), autograph=False)

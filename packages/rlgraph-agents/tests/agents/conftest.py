"""Deep Q-learning written a second time, in NumPy and without RLgraph: what the agents are held against."""

import numpy as np
import pytest


class Reference:
    """A dueling (or plain) network of one tanh layer over weights by scoped name, and its losses."""

    def q_values(self, weights, states, policy="dqn/policy"):
        """`[B, A]`."""

        def layer(x, name):
            return x @ weights[f"{policy}/{name}/weights"] + weights[f"{policy}/{name}/biases"]

        hidden = np.tanh(layer(states, "network/dense-0"))
        if f"{policy}/q-values/weights" in weights:
            return layer(hidden, "q-values")
        advantages = layer(hidden, "advantages")
        return layer(hidden, "value") + advantages - advantages.mean(axis=1, keepdims=True)

    def targets(self, weights, batch, discount, double_q):
        """`r + discount * Q_target(s', a*)`, `[B]`; a* by the online network for double Q-learning."""
        next_target = self.q_values(weights, batch["next_states"], "dqn/target-policy/policy")
        chooser = self.q_values(weights, batch["next_states"]) if double_q else next_target
        values = [row[np.argmax(choice)] for row, choice in zip(next_target, chooser, strict=True)]
        alive = [0.0 if terminal else 1.0 for terminal in batch["terminals"]]
        return batch["rewards"] + discount * np.array(alive) * np.array(values)

    def per_item(self, weights, batch, targets, huber):
        """Half the squared errors `[B]`, or Huber's function of them with delta 1."""
        q_values = self.q_values(weights, batch["states"])
        losses = []
        for row, action, target in zip(q_values, batch["actions"], targets, strict=True):
            error = abs(target - row[action])
            losses.append(error - 0.5 if huber and error > 1.0 else error**2 / 2)
        return np.array(losses)

    def loss(self, weights, batch, discount=0.99, double_q=True, huber=False):
        """The mean loss and the loss per item."""
        per_item = self.per_item(weights, batch, self.targets(weights, batch, discount, double_q), huber)
        return per_item.mean(), per_item

    def gradient(self, weights, batch, discount=0.99, double_q=True, huber=False, step=1e-5):
        """Central differences of the loss by every policy variable; the targets stay as they are."""
        targets = self.targets(weights, batch, discount, double_q)
        gradients = {}
        for name in [name for name in weights if name.startswith("dqn/policy/")]:
            gradient = np.zeros_like(weights[name])
            for place in np.ndindex(gradient.shape):
                changed = {**weights, name: weights[name].copy()}
                values = []
                for sign in (1, -1):
                    changed[name][place] = weights[name][place] + sign * step
                    values.append(self.per_item(changed, batch, targets, huber).mean())
                gradient[place] = (values[0] - values[1]) / (2 * step)
            gradients[name] = gradient
        return gradients

    def randomised(self, weights, seed, scale=0.7):
        """Other values for the policy and the target policy, which then differ."""
        rng = np.random.default_rng(seed)
        names = [name for name in weights if name.startswith(("dqn/policy/", "dqn/target-policy/"))]
        return {
            name: rng.normal(scale=scale, size=weights[name].shape).astype(weights[name].dtype)
            for name in names
        }


@pytest.fixture
def reference():
    return Reference()

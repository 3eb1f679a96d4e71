"""rejax: training in one XLA program with the environment, which is gymnax's.

What differs: gradients are limited number by number, not by their norm; PPO limits the change of values, too; the
actor of TD3 goes by both critics; Adam's epsilon is 1e-8; the end of time counts as the end of an episode, and a step
computes the start of the next one, too. Returns are those of evaluations, which are left out. DQN makes an update at
each step of all environments, never at every fourth of one: only `micro/in_graph` measures it.

Counted: SAC has 67,330 parameters in its actor and twice 67,329 in its critics; 200 updates in steps 101 to 300 of SAC,
TD3's actor 100; 16 updates for each rollout of PPO.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from micro import settings as to
from micro.training import Training

REQUIREMENTS = ("rejax==0.1.3", "gymnax==0.0.9", "jax==0.10.2", "numpy==2.4.6")
PROBE = "import rejax"
_OFF_POLICY: dict[str, Any] = {
    "learning_rate": to.SAC_RATE,
    "buffer_size": to.SAC_CAPACITY,
    "fill_buffer": to.SAC_START,
    "batch_size": to.SAC_BATCH,
    "polyak": 1.0 - to.SAC_TAU,
}
OPTIONS: dict[str, dict[str, Any]] = {
    "ppo": {
        "agent_kwargs": {"activation": "tanh"},
        "learning_rate": to.PPO_RATE,
        "num_steps": to.PPO_STEPS,
        "num_epochs": to.PPO_EPOCHS,
        "num_minibatches": to.PPO_MINIBATCHES,
        "gae_lambda": to.PPO_LAMBDA,
        "clip_eps": to.PPO_CLIP,
        "vf_coef": to.VALUE_WEIGHT,
        "ent_coef": to.PPO_ENTROPY,
        "max_grad_norm": to.CLIP_NORM,
    },
    # Not an option of the agent: there it would be lost.
    "sac": {**_OFF_POLICY, "hidden_layer_sizes": (to.SAC_UNITS, to.SAC_UNITS)},
    "td3": {  # noise in units of actions, which are of -2 to 2
        **_OFF_POLICY,
        "exploration_noise": 2.0 * to.TD3_NOISE,
        "target_noise": 2.0 * to.TD3_TARGET_NOISE,
        "target_noise_clip": 2.0 * to.TD3_NOISE_LIMIT,
        "policy_delay": to.TD3_DELAY,
    },
}


class Program:
    """Training without evaluations: a program for each number of steps.

    Attributes:
        state: of the training.
    """

    def __init__(self, kind: str, env: str, num_envs: int, **options: Any):
        import jax
        from flax import linen
        from rejax import get_algo

        made = get_algo(kind).create(env=env, num_envs=num_envs, skip_initial_evaluation=True, **options)
        if kind == "td3":  # it has no option for the layers
            sizes = {"hidden_layer_sizes": (to.SAC_UNITS, to.SAC_UNITS), "activation": linen.relu}
            made = made.replace(actor=made.actor.clone(**sizes), critic=made.critic.clone(**sizes))
        self._algorithm = made.replace(eval_callback=lambda *_: ())
        # Copies: the target's weights are those of the network, and no buffer can be donated twice.
        self.state = jax.tree.map(jax.numpy.copy, self._algorithm.init_state(jax.random.PRNGKey(to.SEED)))
        self._compiled: dict[int, Callable[[Any], Any]] = {}

    def prepare(self, steps: int) -> None:
        import jax

        if steps not in self._compiled:
            sized = self._algorithm.replace(total_timesteps=steps, eval_freq=steps)
            function = jax.jit(lambda given: sized.train(train_state=given)[0], donate_argnums=0)
            self._compiled[steps] = function.lower(self.state).compile()

    def train(self, steps: int) -> None:
        import jax

        self.prepare(steps)
        self.state = jax.block_until_ready(self._compiled[steps](self.state))


def training(kind: str) -> Training:
    env, num_envs = to.task_of(kind)
    program = Program(kind, env, num_envs, **OPTIONS[kind])
    return Training(program.train, tuple, ("rejax", "gymnax", "jax"), program.prepare)

"""AgileRL: TD3 by a loop as in its `train_off_policy`, without evolution, on networks that are given.

What differs: each critic has an optimizer. Its PPO adds a layer to networks that are given, its DQN has soft targets
alone; it has neither SAC, A2C nor QR-DQN.

Counted: parameters of the actor 67,073, of the critics twice 67,329; an update at each step, of the actor at every
second.
"""

from __future__ import annotations

from typing import Any

from micro import settings as to
from micro.training import Training

from peers import TORCH, recorded

REQUIREMENTS = (TORCH, "agilerl==2.58.0", "peft==0.21.2", "gymnasium==1.4.0", "numpy==2.4.6")
PROBE = "import agilerl.algorithms"
#: ``capacity`` and ``noise`` are not of the agent.
OPTIONS: dict[str, dict[str, Any]] = {
    "td3": {
        "capacity": to.SAC_CAPACITY,
        "noise": {"policy_noise": to.TD3_TARGET_NOISE, "noise_clip": to.TD3_NOISE_LIMIT},
        "batch_size": to.SAC_BATCH,
        "lr_actor": to.SAC_RATE,
        "lr_critic": to.SAC_RATE,
        "tau": to.SAC_TAU,
        "policy_freq": to.TD3_DELAY,
        "O_U_noise": False,
        "expl_noise": to.TD3_NOISE,
    }
}


def training(kind: str) -> Training:
    import torch
    from agilerl.algorithms import TD3
    from agilerl.components.data import Transition, transition_to_tensordict
    from agilerl.components.replay_buffer import ReplayBuffer
    from agilerl.modules import EvolvableMLP
    from gymnasium.wrappers import RescaleAction

    torch.set_num_threads(1)
    torch.manual_seed(to.SEED)

    class Critic(EvolvableMLP):  # type: ignore[misc]
        def forward(self, states: Any, actions: Any) -> Any:
            return super().forward(torch.cat((states, actions), dim=1))

    options = dict(OPTIONS[kind])
    memory, noise = ReplayBuffer(options.pop("capacity")), options.pop("noise")
    made, returns = recorded(kind)
    env = RescaleAction(made, -1.0, 1.0)
    layers = {"num_outputs": 1, "hidden_size": [to.SAC_UNITS] * 2, "activation": "ReLU", "layer_norm": False}
    agent = TD3(
        env.observation_space,
        env.action_space,
        actor_network=EvolvableMLP(num_inputs=3, output_activation="Tanh", **layers),
        critic_networks=[Critic(num_inputs=4, **layers) for _ in range(2)],
        gamma=to.DISCOUNT,
        **options,
    )
    state, _ = env.reset()

    def step(learns: bool) -> None:
        nonlocal state
        action = agent.get_action(state)[0] if learns else env.action_space.sample()
        following, reward, terminated, truncated, _ = env.step(action)
        found = Transition(obs=state, action=action, reward=reward, next_obs=following, done=terminated)
        record = transition_to_tensordict(found).unsqueeze(0)
        record.batch_size = torch.Size([1])
        memory.add(record)
        state = env.reset()[0] if terminated or truncated else following
        if learns:
            agent.learn(memory.sample(to.SAC_BATCH), **noise)

    def train(steps: int) -> None:
        for _ in range(steps):
            step(learns=True)

    for _ in range(to.SAC_BATCH):  # it draws without repetition
        step(learns=False)
    return Training(train, lambda: returns, ("agilerl", "torch", "gymnasium"))

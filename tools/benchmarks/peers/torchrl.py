"""TorchRL: its collectors, losses, memories and target updaters, put together as in its own implementations.

What differs: SAC has one optimizer. It has no QR-DQN.

Counted: parameters of SAC 201,989, the temperature among them, of TD3 67,073 and 134,658, of DQN 4,610, of PPO and A2C
9,155; an update at each step of SAC and TD3, of TD3's actor at every second, of DQN at every fourth, 16 to a rollout of
PPO, one of A2C.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from micro import settings as to
from micro.training import Training

from peers import TORCH

REQUIREMENTS = (TORCH, "torchrl==0.14.1", "tensordict==0.14.3", "gymnasium==1.4.0", "numpy==2.4.6")
PROBE = "import torchrl.objectives"
_OFF_POLICY = {"rate": to.SAC_RATE, "capacity": to.SAC_CAPACITY, "batch": to.SAC_BATCH, "frames": 1}
#: Numbers that `training` gives to constructors; ``frames`` of a collector from each environment, ``loss`` to the loss.
OPTIONS: dict[str, dict[str, Any]] = {
    "dqn": {
        "rate": to.DQN_RATE,
        "capacity": to.DQN_CAPACITY,
        "batch": to.DQN_BATCH,
        "frames": to.DQN_INTERVAL,
        "loss": {"loss_function": "smooth_l1", "delay_value": True},
        "sync": to.DQN_SYNC // to.DQN_INTERVAL,  # of updates
    },
    "ppo": {
        "rate": to.PPO_RATE,
        "frames": to.PPO_STEPS,
        "batch": to.PPO_BATCH,
        "epochs": to.PPO_EPOCHS,
        "lambda": to.PPO_LAMBDA,
        "loss": {
            "clip_epsilon": to.PPO_CLIP,
            "entropy_coeff": to.PPO_ENTROPY,
            "critic_coeff": to.VALUE_WEIGHT,
            "loss_critic_type": "l2",
            "normalize_advantage": True,
        },
    },
    "a2c": {
        "rate": to.A2C_RATE,
        "frames": to.A2C_STEPS,
        "batch": to.A2C_STEPS * to.NUM_ENVIRONMENTS,
        "epochs": 1,
        "lambda": 1.0,
        "loss": {"entropy_coeff": 0.0, "critic_coeff": to.VALUE_WEIGHT, "loss_critic_type": "l2"},
    },
    "sac": {
        **_OFF_POLICY,
        "loss": {"num_qvalue_nets": 2, "loss_function": "l2", "delay_qvalue": True, "alpha_init": 1.0},
    },
    "td3": {
        **_OFF_POLICY,
        "loss": {
            "num_qvalue_nets": 2,
            "loss_function": "l2",
            "delay_actor": True,
            "delay_qvalue": True,
            "policy_noise": 2.0 * to.TD3_TARGET_NOISE,  # in units of actions, which are of -2 to 2
            "noise_clip": 2.0 * to.TD3_NOISE_LIMIT,
        },
    },
}


def training(kind: str) -> Training:
    import gymnasium
    import torch
    from gymnasium.vector import AutoresetMode
    from torchrl.collectors import Collector
    from torchrl.data import LazyTensorStorage, TensorDictReplayBuffer
    from torchrl.data.replay_buffers.samplers import RandomSampler, SamplerWithoutReplacement
    from torchrl.envs import GymWrapper, RewardSum, TransformedEnv

    torch.set_num_threads(1)
    torch.manual_seed(to.SEED)
    options, on_policy = OPTIONS[kind], kind in ("ppo", "a2c")
    name, num_envs = to.task_of(kind)
    sync = {"vectorization_mode": "sync", "vector_kwargs": {"autoreset_mode": AutoresetMode.DISABLED}}
    made = gymnasium.make_vec(name, num_envs, **sync) if on_policy else gymnasium.make(name)
    env = TransformedEnv(GymWrapper(made, categorical_action_encoding=True, device="cpu"), RewardSum())
    env.set_seed(to.SEED)
    returns: deque[float] = deque(maxlen=100)
    policy, update = (on_policy_learner if on_policy else off_policy_learner)(kind, env)
    frames = num_envs * options["frames"]
    start = 0 if on_policy else to.DQN_START if kind == "dqn" else to.SAC_START
    memory = TensorDictReplayBuffer(
        storage=LazyTensorStorage(options.get("capacity", frames)),
        sampler=SamplerWithoutReplacement() if on_policy else RandomSampler(),
        batch_size=options["batch"],
    )
    collector = Collector(
        env, policy, frames_per_batch=frames, total_frames=-1, init_random_frames=start or None, device="cpu"
    )
    batches: Iterator[Any] = iter(collector)
    collected = 0

    def train(steps: int) -> None:
        nonlocal collected
        for _ in range(steps // frames):
            batch = next(batches)
            collected += frames
            returns.extend(batch["next", "episode_reward"][batch["next", "done"]].tolist())
            if collected > start:
                update(batch, memory)
            elif not on_policy:
                memory.extend(batch.reshape(-1))
            collector.update_policy_weights_()

    return Training(train, lambda: returns, ("torchrl", "torch", "gymnasium"))


def mlp(inputs: int, outputs: int, kind: str) -> Any:
    import torch
    from torchrl.modules import MLP

    units = to.SAC_UNITS if kind in ("sac", "td3") else to.UNITS
    activation = torch.nn.Tanh if kind in ("ppo", "a2c") else torch.nn.ReLU
    return MLP(inputs, outputs, num_cells=[units, units], activation_class=activation)


def off_policy_learner(kind: str, env: Any) -> tuple[Any, Callable[[Any, Any], None]]:
    """What acts, and an update with a batch of new steps and the memory."""
    import torch
    from tensordict.nn import InteractionType, TensorDictModule, TensorDictSequential
    from torchrl import modules, objectives
    from torchrl.objectives.utils import HardUpdate, SoftUpdate

    options, spec, observation = OPTIONS[kind], env.action_spec, ["observation"]
    size = env.observation_spec["observation"].shape[-1]
    exploring: Any = None
    if kind == "dqn":
        value = modules.QValueActor(mlp(size, 2, kind), in_keys=observation, spec=spec)
        total = int(to.EPSILON_END * 20_000)
        exploring = modules.EGreedyModule(
            spec, eps_init=to.EPSILON_FROM, eps_end=to.EPSILON_TO, annealing_num_steps=total
        )
        policy = TensorDictSequential(value, exploring)
        loss = objectives.DQNLoss(value, action_space=spec, **options["loss"])
        targets: Any = HardUpdate(loss, value_network_update_interval=options["sync"])
    else:
        critic = modules.ValueOperator(mlp(size + 1, 1, kind), in_keys=[*observation, "action"])
        if kind == "sac":
            net = torch.nn.Sequential(mlp(size, 2, kind), modules.NormalParamExtractor())
            policy = actor = modules.ProbabilisticActor(
                TensorDictModule(net, observation, ["loc", "scale"]),
                in_keys=["loc", "scale"],
                spec=spec,
                distribution_class=modules.TanhNormal,
                distribution_kwargs={"low": spec.space.low, "high": spec.space.high, "tanh_loc": False},
                default_interaction_type=InteractionType.RANDOM,
            )
            loss = objectives.SACLoss(actor, critic, **options["loss"])
        else:
            net = TensorDictModule(mlp(size, 1, kind), observation, ["param"])
            scale = modules.TanhModule(in_keys=["param"], out_keys=["action"], spec=spec)
            actor = TensorDictSequential(net, scale)
            noise = 2.0 * to.TD3_NOISE
            exploring = modules.AdditiveGaussianModule(spec, sigma_init=noise, sigma_end=noise)
            policy = TensorDictSequential(actor, exploring)
            loss = objectives.TD3Loss(actor, critic, action_spec=spec, **options["loss"])
        targets = SoftUpdate(loss, eps=1.0 - to.SAC_TAU)
    loss.make_value_estimator(gamma=to.DISCOUNT)
    optimizers = (
        {
            "loss_actor": torch.optim.Adam(loss.actor_network_params.parameters(), options["rate"]),
            "loss_qvalue": torch.optim.Adam(loss.qvalue_network_params.parameters(), options["rate"]),
        }
        if kind == "td3"
        else {"": torch.optim.Adam(loss.parameters(), options["rate"])}
    )
    updates = 0

    def minimize(optimizer: Any, value: Any) -> None:
        optimizer.zero_grad()
        value.backward()
        if kind == "dqn":
            torch.nn.utils.clip_grad_norm_(loss.parameters(), to.DQN_CLIP_NORM)
        optimizer.step()

    def update(batch: Any, memory: Any) -> None:
        nonlocal updates
        memory.extend(batch.reshape(-1))
        if exploring is not None:
            exploring.step(batch.numel())
        drawn = memory.sample()
        updates += 1
        if kind != "td3":
            found = loss(drawn)
            minimize(optimizers[""], sum(value for name, value in found.items() if name.startswith("loss")))
            targets.step()
            return
        minimize(optimizers["loss_qvalue"], loss.value_loss(drawn)[0])
        if updates % to.TD3_DELAY == 0:
            minimize(optimizers["loss_actor"], loss.actor_loss(drawn)[0])
            targets.step()

    return policy, update


def on_policy_learner(kind: str, env: Any) -> tuple[Any, Callable[[Any, Any], None]]:
    """What acts, and an update with a rollout."""
    import torch
    from tensordict.nn import InteractionType, TensorDictModule
    from torchrl import modules, objectives
    from torchrl.objectives.value import GAE

    options, observation = OPTIONS[kind], ["observation"]
    size = env.observation_spec["observation"].shape[-1]
    policy = modules.ProbabilisticActor(
        TensorDictModule(mlp(size, 2, kind), observation, ["logits"]),
        in_keys=["logits"],
        spec=env.action_spec,
        distribution_class=torch.distributions.Categorical,
        return_log_prob=True,
        default_interaction_type=InteractionType.RANDOM,
    )
    value = modules.ValueOperator(mlp(size, 1, kind), in_keys=observation)
    make = objectives.ClipPPOLoss if kind == "ppo" else objectives.A2CLoss
    loss = make(policy, value, **options["loss"])
    advantages = GAE(gamma=to.DISCOUNT, lmbda=options["lambda"], value_network=value)
    optimizer_class = torch.optim.Adam if kind == "ppo" else torch.optim.RMSprop
    optimizer = optimizer_class(loss.parameters(), options["rate"], eps=to.EPSILON)

    def update(batch: Any, memory: Any) -> None:
        with torch.no_grad():
            advantages(batch)
        memory.extend(batch.reshape(-1))
        for _ in range(options["epochs"]):
            for drawn in memory:
                found = loss(drawn)
                optimizer.zero_grad()
                sum(value for name, value in found.items() if name.startswith("loss")).backward()
                torch.nn.utils.clip_grad_norm_(loss.parameters(), to.CLIP_NORM)
                optimizer.step()

    return policy, update

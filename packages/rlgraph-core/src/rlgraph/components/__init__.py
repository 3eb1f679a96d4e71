"""The component library. Components are found by name through the entry-point group ``rlgraph.components``."""

from rlgraph.components.action_adapters.action_adapter import ActionAdapter
from rlgraph.components.action_adapters.adapter_choice import choose_adapter
from rlgraph.components.action_adapters.bernoulli_distribution_adapter import BernoulliDistributionAdapter
from rlgraph.components.action_adapters.beta_distribution_adapter import BetaDistributionAdapter
from rlgraph.components.action_adapters.categorical_distribution_adapter import CategoricalDistributionAdapter
from rlgraph.components.action_adapters.clipped_normal_distribution_adapter import (
    ClippedNormalDistributionAdapter,
)
from rlgraph.components.action_adapters.gumbel_softmax_distribution_adapter import (
    GumbelSoftmaxDistributionAdapter,
)
from rlgraph.components.action_adapters.joint_action_adapter import JointActionAdapter
from rlgraph.components.action_adapters.log_normal_distribution_adapter import LogNormalDistributionAdapter
from rlgraph.components.action_adapters.multivariate_normal_distribution_adapter import (
    MultivariateNormalDistributionAdapter,
)
from rlgraph.components.action_adapters.normal_distribution_adapter import NormalDistributionAdapter
from rlgraph.components.action_adapters.squashed_normal_distribution_adapter import (
    SquashedNormalDistributionAdapter,
)
from rlgraph.components.common.batch_apply import BatchApply
from rlgraph.components.common.batch_splitter import BatchSplitter
from rlgraph.components.common.container_merger import ContainerMerger
from rlgraph.components.common.entropy_temperature import EntropyTemperature, default_target_entropy
from rlgraph.components.common.normalizer import Normalizer
from rlgraph.components.common.observations import Observations
from rlgraph.components.common.sampler import Sampler
from rlgraph.components.common.schedules import Schedule
from rlgraph.components.common.slice import Slice
from rlgraph.components.common.softmax import Softmax
from rlgraph.components.common.synchronizer import Synchronizer
from rlgraph.components.common.target import Target
from rlgraph.components.distributions.bernoulli import Bernoulli
from rlgraph.components.distributions.beta import Beta
from rlgraph.components.distributions.categorical import Categorical
from rlgraph.components.distributions.clipped_normal import ClippedNormal
from rlgraph.components.distributions.distribution import Distribution
from rlgraph.components.distributions.gumbel_softmax import GumbelSoftmax
from rlgraph.components.distributions.joint_cumulative_distribution import JointCumulativeDistribution
from rlgraph.components.distributions.log_normal import LogNormal
from rlgraph.components.distributions.mixture_distribution import MixtureDistribution
from rlgraph.components.distributions.multivariate_normal import MultivariateNormal
from rlgraph.components.distributions.normal import Normal
from rlgraph.components.distributions.squashed_normal import SquashedNormal
from rlgraph.components.environments.cart_pole import CartPole
from rlgraph.components.environments.catch import Catch
from rlgraph.components.environments.environment_component import EnvironmentComponent
from rlgraph.components.environments.masked_grid import MaskedGrid
from rlgraph.components.environments.pendulum import Pendulum
from rlgraph.components.explorations.action_noise import ActionNoise
from rlgraph.components.explorations.constant_noise import ConstantNoise
from rlgraph.components.explorations.epsilon_greedy import EpsilonGreedy
from rlgraph.components.explorations.exploration import Exploration
from rlgraph.components.explorations.gaussian_noise import GaussianNoise
from rlgraph.components.explorations.noisy_greedy import NoisyGreedy
from rlgraph.components.explorations.ornstein_uhlenbeck_noise import OrnsteinUhlenbeckNoise
from rlgraph.components.helpers.clipping import Clipping
from rlgraph.components.helpers.generalized_advantage_estimation import GeneralizedAdvantageEstimation
from rlgraph.components.helpers.replayed_sequences import ReplayedSequences
from rlgraph.components.helpers.return_scaling import ReturnScaling
from rlgraph.components.helpers.sequence_helper import SequenceHelper
from rlgraph.components.helpers.standardize import Standardize
from rlgraph.components.helpers.v_trace_function import VTraceFunction
from rlgraph.components.layers.activation import Activation
from rlgraph.components.layers.conv2d import Conv2D
from rlgraph.components.layers.conv2d_transpose import Conv2DTranspose
from rlgraph.components.layers.dense import Dense
from rlgraph.components.layers.dropout import Dropout
from rlgraph.components.layers.embedding_lookup import EmbeddingLookup
from rlgraph.components.layers.gru import GRU
from rlgraph.components.layers.layer_norm import LayerNorm
from rlgraph.components.layers.local_response_norm import LocalResponseNorm
from rlgraph.components.layers.lstm import LSTM
from rlgraph.components.layers.max_pool2d import MaxPool2D
from rlgraph.components.layers.multi_lstm import MultiLSTM
from rlgraph.components.layers.noisy_dense import NoisyDense
from rlgraph.components.layers.recurrent import RecurrentLayer
from rlgraph.components.layers.residual import Residual
from rlgraph.components.layers.string_to_hash_bucket import StringToHashBucket
from rlgraph.components.losses.actor_critic_loss import ActorCriticLoss
from rlgraph.components.losses.categorical_cross_entropy_loss import CategoricalCrossEntropyLoss
from rlgraph.components.losses.categorical_dqn_loss import CategoricalDQNLoss
from rlgraph.components.losses.container_loss import ContainerLoss
from rlgraph.components.losses.dqfd_loss import DQFDLoss
from rlgraph.components.losses.dqn_loss import DQNLoss
from rlgraph.components.losses.euclidian_distance_loss import EuclidianDistanceLoss
from rlgraph.components.losses.impala_loss import IMPALALoss
from rlgraph.components.losses.iql_loss import IQLLoss
from rlgraph.components.losses.loss_function import LossFunction
from rlgraph.components.losses.negative_log_likelihood_loss import NegativeLogLikelihoodLoss
from rlgraph.components.losses.ppo_loss import PPOLoss
from rlgraph.components.losses.quantile_dqn_loss import QuantileDQNLoss
from rlgraph.components.losses.sac_loss import SACLoss
from rlgraph.components.losses.supervised_loss import SupervisedLoss
from rlgraph.components.losses.td3_loss import TD3Loss
from rlgraph.components.memories.demonstration_replay import DemonstrationReplay
from rlgraph.components.memories.fifo_queue import FIFOQueue
from rlgraph.components.memories.memory import Memory
from rlgraph.components.memories.prioritized_replay import PrioritizedReplay
from rlgraph.components.memories.queue_runner import QueueRunner
from rlgraph.components.memories.replay_memory import ReplayMemory
from rlgraph.components.memories.ring_buffer import RingBuffer
from rlgraph.components.memories.segment_tree import MinTree, SumTree
from rlgraph.components.memories.sequence_replay import SequenceReplay
from rlgraph.components.memories.staging_area import StagingArea
from rlgraph.components.models.intrinsic_curiosity_module import IntrinsicCuriosityModule
from rlgraph.components.models.random_network_distillation import RandomNetworkDistillation
from rlgraph.components.models.supervised_model import SupervisedModel
from rlgraph.components.models.supervised_predictor import SupervisedPredictor
from rlgraph.components.networks.impala_networks import LargeIMPALANetwork, SmallIMPALANetwork
from rlgraph.components.networks.instruction_encoder import InstructionEncoder
from rlgraph.components.networks.multi_input_stream_neural_network import MultiInputStreamNeuralNetwork
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.components.networks.repeater_stack import RepeaterStack
from rlgraph.components.networks.sac_value_network import SACValueNetwork
from rlgraph.components.networks.stack import Stack
from rlgraph.components.networks.value_function import ValueFunction
from rlgraph.components.networks.variational_auto_encoder import VariationalAutoEncoder
from rlgraph.components.optimizers.adadelta import Adadelta
from rlgraph.components.optimizers.adagrad import Adagrad
from rlgraph.components.optimizers.adam import Adam
from rlgraph.components.optimizers.adamw import AdamW
from rlgraph.components.optimizers.iterative_optimization import IterativeOptimization
from rlgraph.components.optimizers.nadam import Nadam
from rlgraph.components.optimizers.optimizer import Optimizer
from rlgraph.components.optimizers.rmsprop import RMSProp
from rlgraph.components.optimizers.sgd import SGD
from rlgraph.components.policies.actor_component import ActorComponent
from rlgraph.components.policies.deterministic_policy import DeterministicPolicy
from rlgraph.components.policies.dueling_policy import DuelingPolicy
from rlgraph.components.policies.policy import Policy
from rlgraph.components.policies.q_policy import QPolicy
from rlgraph.components.policies.shared_value_function_policy import SharedValueFunctionPolicy
from rlgraph.components.preprocessing.clip import Clip
from rlgraph.components.preprocessing.concat import Concat
from rlgraph.components.preprocessing.container_splitter import ContainerSplitter
from rlgraph.components.preprocessing.convert_type import ConvertType
from rlgraph.components.preprocessing.dict_preprocessor_stack import DictPreprocessorStack
from rlgraph.components.preprocessing.divide import Divide
from rlgraph.components.preprocessing.grayscale import GrayScale
from rlgraph.components.preprocessing.image_binary import ImageBinary
from rlgraph.components.preprocessing.image_crop import ImageCrop
from rlgraph.components.preprocessing.image_resize import ImageResize
from rlgraph.components.preprocessing.moving_standardize import MovingStandardize
from rlgraph.components.preprocessing.multiply import Multiply
from rlgraph.components.preprocessing.normalize import Normalize
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer
from rlgraph.components.preprocessing.preprocessor_stack import PreprocessorStack
from rlgraph.components.preprocessing.rank_reinterpreter import RankReinterpreter
from rlgraph.components.preprocessing.reshape import Reshape
from rlgraph.components.preprocessing.sequence import Sequence
from rlgraph.components.preprocessing.transpose import Transpose
from rlgraph.components.steppers.environment_stepper import EnvironmentStepper
from rlgraph.core.name_hints import answer_names_of_components

__all__ = [
    "GRU",
    "LSTM",
    "SGD",
    "ActionAdapter",
    "ActionNoise",
    "Activation",
    "ActorComponent",
    "ActorCriticLoss",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "BatchApply",
    "BatchSplitter",
    "Bernoulli",
    "BernoulliDistributionAdapter",
    "Beta",
    "BetaDistributionAdapter",
    "CartPole",
    "Catch",
    "Categorical",
    "CategoricalCrossEntropyLoss",
    "CategoricalDQNLoss",
    "CategoricalDistributionAdapter",
    "Clip",
    "ClippedNormal",
    "ClippedNormalDistributionAdapter",
    "Clipping",
    "Concat",
    "ConstantNoise",
    "ContainerLoss",
    "ContainerMerger",
    "ContainerSplitter",
    "Conv2D",
    "Conv2DTranspose",
    "ConvertType",
    "DQFDLoss",
    "DQNLoss",
    "DemonstrationReplay",
    "Dense",
    "DeterministicPolicy",
    "DictPreprocessorStack",
    "Distribution",
    "Divide",
    "Dropout",
    "DuelingPolicy",
    "EmbeddingLookup",
    "EntropyTemperature",
    "EnvironmentComponent",
    "EnvironmentStepper",
    "EpsilonGreedy",
    "EuclidianDistanceLoss",
    "Exploration",
    "FIFOQueue",
    "GaussianNoise",
    "GeneralizedAdvantageEstimation",
    "GrayScale",
    "GumbelSoftmax",
    "GumbelSoftmaxDistributionAdapter",
    "IMPALALoss",
    "IQLLoss",
    "ImageBinary",
    "ImageCrop",
    "ImageResize",
    "InstructionEncoder",
    "IntrinsicCuriosityModule",
    "IterativeOptimization",
    "JointActionAdapter",
    "JointCumulativeDistribution",
    "LargeIMPALANetwork",
    "LayerNorm",
    "LocalResponseNorm",
    "LogNormal",
    "LogNormalDistributionAdapter",
    "LossFunction",
    "MaskedGrid",
    "MaxPool2D",
    "Memory",
    "MinTree",
    "MixtureDistribution",
    "MovingStandardize",
    "MultiInputStreamNeuralNetwork",
    "MultiLSTM",
    "Multiply",
    "MultivariateNormal",
    "MultivariateNormalDistributionAdapter",
    "Nadam",
    "NegativeLogLikelihoodLoss",
    "NeuralNetwork",
    "NoisyDense",
    "NoisyGreedy",
    "Normal",
    "NormalDistributionAdapter",
    "Normalize",
    "Normalizer",
    "Observations",
    "Optimizer",
    "OrnsteinUhlenbeckNoise",
    "PPOLoss",
    "Pendulum",
    "Policy",
    "PreprocessLayer",
    "PreprocessorStack",
    "PrioritizedReplay",
    "QPolicy",
    "QuantileDQNLoss",
    "QueueRunner",
    "RMSProp",
    "RandomNetworkDistillation",
    "RankReinterpreter",
    "RecurrentLayer",
    "RepeaterStack",
    "ReplayMemory",
    "ReplayedSequences",
    "Reshape",
    "Residual",
    "ReturnScaling",
    "RingBuffer",
    "SACLoss",
    "SACValueNetwork",
    "Sampler",
    "Schedule",
    "Sequence",
    "SequenceHelper",
    "SequenceReplay",
    "SharedValueFunctionPolicy",
    "Slice",
    "SmallIMPALANetwork",
    "Softmax",
    "SquashedNormal",
    "SquashedNormalDistributionAdapter",
    "Stack",
    "StagingArea",
    "Standardize",
    "StringToHashBucket",
    "SumTree",
    "SupervisedLoss",
    "SupervisedModel",
    "SupervisedPredictor",
    "Synchronizer",
    "TD3Loss",
    "Target",
    "Transpose",
    "VTraceFunction",
    "ValueFunction",
    "VariationalAutoEncoder",
    "choose_adapter",
    "default_target_entropy",
]

answer_names_of_components(__all__)

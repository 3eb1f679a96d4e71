"""The component library. Components are found by name through the entry-point group ``rlgraph.components``."""

from rlgraph.components.common.batch_apply import BatchApply
from rlgraph.components.common.batch_splitter import BatchSplitter
from rlgraph.components.common.container_merger import ContainerMerger
from rlgraph.components.common.sampler import Sampler
from rlgraph.components.common.schedules import Schedule
from rlgraph.components.common.slice import Slice
from rlgraph.components.common.softmax import Softmax
from rlgraph.components.common.synchronizer import Synchronizer
from rlgraph.components.explorations.epsilon_greedy import EpsilonGreedy
from rlgraph.components.explorations.exploration import Exploration
from rlgraph.components.explorations.noisy_greedy import NoisyGreedy
from rlgraph.components.helpers.clipping import Clipping
from rlgraph.components.helpers.generalized_advantage_estimation import GeneralizedAdvantageEstimation
from rlgraph.components.helpers.sequence_helper import SequenceHelper
from rlgraph.components.helpers.v_trace_function import VTraceFunction
from rlgraph.components.layers.conv2d import Conv2D
from rlgraph.components.layers.dense import Dense
from rlgraph.components.layers.max_pool2d import MaxPool2D
from rlgraph.components.losses.actor_critic_loss import ActorCriticLoss
from rlgraph.components.losses.categorical_cross_entropy_loss import CategoricalCrossEntropyLoss
from rlgraph.components.losses.container_loss import ContainerLoss
from rlgraph.components.losses.dqfd_loss import DQFDLoss
from rlgraph.components.losses.dqn_loss import DQNLoss
from rlgraph.components.losses.euclidian_distance_loss import EuclidianDistanceLoss
from rlgraph.components.losses.loss_function import LossFunction
from rlgraph.components.losses.negative_log_likelihood_loss import NegativeLogLikelihoodLoss
from rlgraph.components.losses.ppo_loss import PPOLoss
from rlgraph.components.losses.sac_loss import SACLoss
from rlgraph.components.losses.td3_loss import TD3Loss
from rlgraph.components.memories.memory import Memory
from rlgraph.components.memories.prioritized_replay import PrioritizedReplay
from rlgraph.components.memories.replay_memory import ReplayMemory
from rlgraph.components.memories.ring_buffer import RingBuffer
from rlgraph.components.networks.neural_network import NeuralNetwork
from rlgraph.components.networks.repeater_stack import RepeaterStack
from rlgraph.components.networks.stack import Stack
from rlgraph.components.optimizers.adam import Adam
from rlgraph.components.policies.dueling_policy import DuelingPolicy
from rlgraph.components.policies.q_policy import QPolicy
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
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer, StatefulLayer
from rlgraph.components.preprocessing.preprocessor_stack import PreprocessorStack
from rlgraph.components.preprocessing.rank_reinterpreter import RankReinterpreter
from rlgraph.components.preprocessing.reshape import Reshape
from rlgraph.components.preprocessing.sequence import Sequence
from rlgraph.components.preprocessing.transpose import Transpose

__all__ = [
    "ActorCriticLoss",
    "Adam",
    "BatchApply",
    "BatchSplitter",
    "CategoricalCrossEntropyLoss",
    "Clip",
    "Clipping",
    "Concat",
    "ContainerLoss",
    "ContainerMerger",
    "ContainerSplitter",
    "Conv2D",
    "ConvertType",
    "DQFDLoss",
    "DQNLoss",
    "Dense",
    "DictPreprocessorStack",
    "Divide",
    "DuelingPolicy",
    "EpsilonGreedy",
    "EuclidianDistanceLoss",
    "Exploration",
    "GeneralizedAdvantageEstimation",
    "GrayScale",
    "ImageBinary",
    "ImageCrop",
    "ImageResize",
    "LossFunction",
    "MaxPool2D",
    "Memory",
    "MovingStandardize",
    "Multiply",
    "NegativeLogLikelihoodLoss",
    "NeuralNetwork",
    "NoisyGreedy",
    "Normalize",
    "PPOLoss",
    "PreprocessLayer",
    "PreprocessorStack",
    "PrioritizedReplay",
    "QPolicy",
    "RankReinterpreter",
    "RepeaterStack",
    "ReplayMemory",
    "Reshape",
    "RingBuffer",
    "SACLoss",
    "Sampler",
    "Schedule",
    "Sequence",
    "SequenceHelper",
    "Slice",
    "Softmax",
    "Stack",
    "StatefulLayer",
    "Synchronizer",
    "TD3Loss",
    "Transpose",
    "VTraceFunction",
]

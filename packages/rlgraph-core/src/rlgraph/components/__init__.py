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
from rlgraph.components.layers.conv2d import Conv2D
from rlgraph.components.layers.dense import Dense
from rlgraph.components.layers.max_pool2d import MaxPool2D
from rlgraph.components.losses.dqn_loss import DQNLoss
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
from rlgraph.components.preprocessing.convert_type import ConvertType
from rlgraph.components.preprocessing.dict_preprocessor_stack import DictPreprocessorStack
from rlgraph.components.preprocessing.divide import Divide
from rlgraph.components.preprocessing.grayscale import GrayScale
from rlgraph.components.preprocessing.image_crop import ImageCrop
from rlgraph.components.preprocessing.image_resize import ImageResize
from rlgraph.components.preprocessing.moving_standardize import MovingStandardize
from rlgraph.components.preprocessing.multiply import Multiply
from rlgraph.components.preprocessing.normalize import Normalize
from rlgraph.components.preprocessing.preprocess_layer import PreprocessLayer, StatefulLayer
from rlgraph.components.preprocessing.preprocessor_stack import PreprocessorStack
from rlgraph.components.preprocessing.reshape import Reshape
from rlgraph.components.preprocessing.sequence import Sequence

__all__ = [
    "Adam",
    "BatchApply",
    "BatchSplitter",
    "Clip",
    "Concat",
    "ContainerMerger",
    "Conv2D",
    "ConvertType",
    "DQNLoss",
    "Dense",
    "DictPreprocessorStack",
    "Divide",
    "DuelingPolicy",
    "EpsilonGreedy",
    "Exploration",
    "GrayScale",
    "ImageCrop",
    "ImageResize",
    "MaxPool2D",
    "Memory",
    "MovingStandardize",
    "Multiply",
    "NeuralNetwork",
    "NoisyGreedy",
    "Normalize",
    "PreprocessLayer",
    "PreprocessorStack",
    "PrioritizedReplay",
    "QPolicy",
    "RepeaterStack",
    "ReplayMemory",
    "Reshape",
    "RingBuffer",
    "Sampler",
    "Schedule",
    "Sequence",
    "Slice",
    "Softmax",
    "Stack",
    "StatefulLayer",
    "Synchronizer",
]

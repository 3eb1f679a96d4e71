"""Workers run an agent in environments."""

from rlgraph.workers.callbacks import Callback, Step
from rlgraph.workers.evaluation import Evaluation, evaluate
from rlgraph.workers.recording import Recorder
from rlgraph.workers.single_threaded_worker import SingleThreadedWorker, TrainingResult

__all__ = ["Callback", "Evaluation", "Recorder", "SingleThreadedWorker", "Step", "TrainingResult", "evaluate"]

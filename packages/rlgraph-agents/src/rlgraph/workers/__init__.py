"""Workers run an agent in environments."""

from rlgraph.workers.callbacks import Callback, Step
from rlgraph.workers.data_set_recording import record_data_set
from rlgraph.workers.evaluation import Evaluation, EvaluationWarning, evaluate
from rlgraph.workers.offline import learn_offline
from rlgraph.workers.progress import LiveProgress
from rlgraph.workers.recording import Recorder
from rlgraph.workers.results import TrainingResult
from rlgraph.workers.run_schedule import RunSchedule
from rlgraph.workers.single_threaded_worker import SingleThreadedWorker
from rlgraph.workers.stopping import StopAfterEpisodes, StopAfterSeconds, StopAtEvaluation, StopAtReturn
from rlgraph.workers.worker import Worker

__all__ = [
    "Callback",
    "Evaluation",
    "EvaluationWarning",
    "LiveProgress",
    "Recorder",
    "RunSchedule",
    "SingleThreadedWorker",
    "Step",
    "StopAfterEpisodes",
    "StopAfterSeconds",
    "StopAtEvaluation",
    "StopAtReturn",
    "TrainingResult",
    "Worker",
    "evaluate",
    "learn_offline",
    "record_data_set",
]

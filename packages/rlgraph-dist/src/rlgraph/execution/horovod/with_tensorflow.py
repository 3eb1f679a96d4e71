"""Sums of arrays by Horovod's TensorFlow half."""

from __future__ import annotations

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf

framework = hvd


def sum_of(array: np.ndarray) -> np.ndarray:
    """The sum over all processes."""
    summed: np.ndarray = hvd.allreduce(tf.constant(array), name="sum", op=hvd.Sum).numpy()
    return summed

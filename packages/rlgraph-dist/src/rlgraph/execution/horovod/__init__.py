"""Groups of learners over Horovod; `rlgraph.execution.horovod.build` builds it."""

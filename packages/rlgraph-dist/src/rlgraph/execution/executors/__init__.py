"""Executors: how actors, learner and memories work together, one file for each way."""

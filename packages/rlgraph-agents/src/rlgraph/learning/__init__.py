"""Learning: an algorithm with its actor, its experience and its learner in one process."""

"""The run time of a graph executor: programs, the variables they share, locks, input conversion, acting."""

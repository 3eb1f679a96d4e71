"""The command line: ``rlgraph``."""

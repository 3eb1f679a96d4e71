"""The PyTorch backend of RLgraph. Importing this package imports no framework."""

"""The TensorFlow backend of RLgraph. Importing this package imports no framework."""

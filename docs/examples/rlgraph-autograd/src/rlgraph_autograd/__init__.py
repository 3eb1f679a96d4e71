"""A backend for RLgraph on Autograd, a tape over NumPy. Importing this package does not import Autograd."""

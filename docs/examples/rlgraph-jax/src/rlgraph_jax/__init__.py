"""A backend for RLgraph on JAX. Importing this package does not import JAX."""

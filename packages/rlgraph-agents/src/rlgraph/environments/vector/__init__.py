"""Vector environments: many environments that step together."""

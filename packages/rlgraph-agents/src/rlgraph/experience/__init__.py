"""Experience: steps, fragments and records, what agents learn from, and data sets."""

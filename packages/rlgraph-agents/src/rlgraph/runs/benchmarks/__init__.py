"""Benchmarks: suites of runs, each with several seeds, whose results are kept as files and shown as tables."""

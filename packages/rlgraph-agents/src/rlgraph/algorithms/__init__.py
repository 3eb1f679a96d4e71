"""Algorithms: one file for each paper, and what several share."""

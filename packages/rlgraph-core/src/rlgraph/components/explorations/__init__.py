"""Explorations."""

"""Passes: small framework-free functions from plan to plan."""

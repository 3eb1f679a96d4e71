"""Specs: reads documents, checks arguments, and creates the described objects."""

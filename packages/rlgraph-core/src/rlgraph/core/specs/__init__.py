"""Specs: reading documents, checking arguments, making the objects that they describe."""

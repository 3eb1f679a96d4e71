"""Adapters: environments of other libraries."""

"""Hosts as real processes."""

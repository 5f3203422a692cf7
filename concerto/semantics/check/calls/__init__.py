"""Calls: which function is meant, its arguments, its type arguments."""

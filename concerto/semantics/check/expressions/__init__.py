"""The types of expressions, a family each."""

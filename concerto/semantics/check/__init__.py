"""The type checker of bodies: the type of every expression, statement and pattern."""

"""Types compared, joined and looked into: unification, coercion, impls, members."""

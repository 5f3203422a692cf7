"""The vocabulary: tables of what declarations, decorators and `Concerto.toml` may say.

Checker, emitter, manifest, completion, reference and run read the same rows.
"""

"""Whole texts kept to be read: what the compiler says of each faulty program of the corpus, and what it makes
of some small ones.

`python -m tests.snapshots` writes them anew; the difference is reviewed as text.
"""

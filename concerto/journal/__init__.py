"""Runs that last: the store of runs and their journals, and the way back from a journal into a run."""

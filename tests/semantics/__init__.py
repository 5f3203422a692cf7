"""Tests of the checker that no program can show: manifests, the library, questions asked of the world."""

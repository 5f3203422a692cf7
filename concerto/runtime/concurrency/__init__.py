"""Fibers of program code, tasks, and how they wait."""

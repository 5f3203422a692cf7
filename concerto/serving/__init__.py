"""Programs behind HTTP: the fronts that `concerto serve` gives to the agents and the `main` of a program.

Each front is a file of its own, and none knows another; what they share is below them.
"""

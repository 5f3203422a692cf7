"""Runs the IR on two tiers, interpreter and Python, over one set of values and operations; the way out is `Host`."""

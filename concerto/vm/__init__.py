"""Runs the IR on two tiers, interpreter and Python, over one set of values; the way out is `Host`."""

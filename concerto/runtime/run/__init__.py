"""One run: its options, its gate, how it begins, waits and ends."""

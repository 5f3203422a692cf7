"""The read-eval-print loop: its input, its session, and the programs that its inputs are put together to."""

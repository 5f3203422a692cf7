"""The commands `concerto` and `concertoc`, thin over the Python API."""

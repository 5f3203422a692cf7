"""The viewer: a run as one HTML file, which needs no network, no server and no library."""

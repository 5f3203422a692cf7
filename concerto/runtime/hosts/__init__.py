"""Hosts: agents that are processes of ours. `process` runs one, `protocol` is what is said, `settings` where
it stands, `pool` gives out the processes of a host, `executing` does what a program asks of them."""

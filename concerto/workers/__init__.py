"""Many machines: runs that wait in a database until a worker takes them."""

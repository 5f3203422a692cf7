"""Tools: those the program declares, the library's, Python's."""

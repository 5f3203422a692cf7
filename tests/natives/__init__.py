"""Tests of library functions at the edges, called as the machine calls them."""

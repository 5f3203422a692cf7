"""Breaks the compiler in small ways, one at a time, and tells which of them no test notices."""

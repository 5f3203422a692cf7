"""The rules of each kind of declaration: one table of fields and one file of checks for each."""

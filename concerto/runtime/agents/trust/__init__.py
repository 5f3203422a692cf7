"""Trust at run time: what each conversation was told, and which of its model's calls that allows. The rules
are those of the table that the checker has looked at."""

"""Hostile input: what stands in sources, IR files, answers of models and messages of servers is spoilt, and
every case must end in a diagnostic, a language error or an answer."""

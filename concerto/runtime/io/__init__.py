"""The world besides models: files, HTTP, the shell, databases, people."""

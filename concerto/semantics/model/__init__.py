"""What a program's declarations and types are: data, and nothing that decides."""

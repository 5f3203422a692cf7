"""The language server, asked by clients of the protocol."""

"""The compiled program: the instruction set, the module, its file form, its verifier and its text for people."""

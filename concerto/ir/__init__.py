"""The compiled program: instruction set, module, file form, verifier, and its text for people."""

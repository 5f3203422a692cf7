"""Trust (information flow control): what untrusted text may cause, as one table of labels that the checker
and the gate read.

The analysis looks at a linked program, not at its source: every call is an instruction there, whatever form
of the language it came from, and a program that was checked in parts is whole.
"""

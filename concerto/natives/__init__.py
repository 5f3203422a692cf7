"""Bodies of the standard library: a module for each group of `stdlib/*.conc`, found by `concerto.vm.native`.

A body may rely on what the checker proved about its arguments and on nothing else. The container it returns
is always a new one, but elements, and a result that is of a bare type parameter, may be parts of its
arguments: whoever keeps one and may change it copies it first. What a `mut self` body stores was copied
before.
"""

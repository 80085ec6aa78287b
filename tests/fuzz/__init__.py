"""Random programs: what native code computes or refuses is compared with the interpreter.

`programs` writes a program as Python text, out of a stream of `choices` that can be replayed and
shrunk. `compare` runs it every way there is, with arrays in `memory` that borders on pages which
must not be touched; `worker` does so in a process of its own, so that a crash is a finding too.
`run` is the command, `test_fuzz` the fixed part that the tests run.
"""

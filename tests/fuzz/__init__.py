"""Random programs: what native code computes or refuses is compared with the interpreter.

`programs` writes a program as Python text, out of a stream of `choices` that can be replayed and
shrunk. Three experiments try it (`experiments`):

* `compare`: run every way there is, with arrays in `memory` that borders on pages which must not
  be touched;
* `scheduled`, `trial`, `calling`: the same under random `directives`, within `limits`;
* `understood`: the interpreter against `meaning`, which shares no code with it.

`worker` runs them in a process of its own, so that a crash is a finding too, and `script` makes a
program of a finding. `run` is the command, `test_fuzz` and `test_meaning` the fixed part that the
tests run.
"""

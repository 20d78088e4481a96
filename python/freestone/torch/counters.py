"""What the backend has done in this process."""

from __future__ import annotations

import collections

#: By name, from 0; may be cleared. Threads that count at the same time may lose counts.
#: graphs: received; programs_compiled, programs_from_cache; copied_inputs: arguments that were copied since their memory
#: has gaps or another order; copied_states: of steps, to and fro; fallbacks: operators that run as PyTorch's own; steps:
#: run by compile_step, of which steps_compiled, steps_from_cache are the programs.
counters: collections.Counter[str] = collections.Counter()

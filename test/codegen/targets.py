"""Targets of a test, each processor once, and what this machine has."""

import functools
import subprocess

import freestone_runtime

# The instructions by which code differs, beside those of x86-64-v3.
INSTRUCTIONS = frozenset({"avx512f", "avx512vnni", "avx512bf16", "amx-bf16", "amx-int8"})


@functools.cache
def instructions(tool=None):
    """Those of INSTRUCTIONS that this machine has, or what FREESTONE_HOST makes of it; `tool` is the command, else the build's."""
    machine = subprocess.run([tool or freestone_runtime.freestone(), "machine"], check=True, capture_output=True, text=True).stdout
    return INSTRUCTIONS & set(machine.split())


def distinct(*targets, tool=None):
    """Of `host`, `x86-64-v3` and `host,-FEATURE…`, those that are other processors than the ones before: a machine with AVX2
    alone is the second one."""
    found = {}
    for target in targets:
        first, *removed = target.split(",-")
        found.setdefault(instructions(tool) - set(removed) if first == "host" else frozenset(), target)
    return tuple(found.values())

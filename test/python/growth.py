"""A hundred thousand calls leave memory as it was, and as many objects."""

import gc
import resource

import numpy as np

import freestone
from graphs import double


class Foreign:
    def __init__(self, array):
        self.__dlpack__ = array.__dlpack__


def memory():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


program = freestone.compile(double(), threads=1)
x, out = np.ones((64, 8), np.float32), np.ones((64, 8), np.float32)
foreign, wrong = Foreign(x), np.ones((64, 7), np.float32)


def call(times):
    for _ in range(times):
        program(x)
        program(x=x, out=out)
        program(foreign)
        try:
            program(wrong)
        except freestone.ShapeError:
            pass


call(1000)
gc.collect()
before, objects = memory(), len(gc.get_objects())
call(25_000)
gc.collect()
assert memory() - before < 1 << 20, memory() - before
assert len(gc.get_objects()) - objects < 100

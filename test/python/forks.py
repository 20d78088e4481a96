"""After a fork, as of the workers of a data loader, a child runs what its parent has, and both end."""

import gc
import os
import signal
import sys

import numpy as np

import freestone
from errors_seen import raised
from graphs import classifier, double

SECONDS = 60  # for a child that hangs


def in_child(call):
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(SECONDS)
            call()
            gc.collect()
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0, call.__name__


x = np.ones((64, 8), np.float32)
program = freestone.compile(double(), threads=2)
program(x)
trainer = freestone.Trainer(classifier(), labels="y", threads=2)
batch = {"x": np.ones((8, 16), np.float32), "y": np.zeros(8, np.int64)}
trainer.step(batch)
names = globals()


def calls():
    for _ in range(100):
        assert (program(x) == 2).all()


def forgets():
    del names["program"], names["trainer"]
    gc.collect()


def compiles():
    assert (freestone.compile(double(), bind={"n": 64}, cache=False)(x) == 2).all()


def trains():
    raised(freestone.InvalidArgument, lambda: trainer.step(batch), "forked")
    raised(freestone.InvalidArgument, lambda: trainer.fit(batch), "forked")
    assert freestone.Trainer(classifier(), labels="y", threads=2).step(batch).loss > 0


def forks_again():
    in_child(calls)
    calls()


for call in (calls, forgets, compiles, trains, forks_again):
    in_child(call)
calls()
trainer.step(batch)
sys.exit(0)

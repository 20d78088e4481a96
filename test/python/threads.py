"""Several threads call one program at the same time, without the GIL."""

import os
import subprocess
import sys
import threading
import time

import numpy as np

import freestone
from graphs import classifier, model


def eight_threads():
    program = freestone.compile(classifier(), threads=1)
    expected = {rows: program(np.full((rows, 16), rows, np.float32)) for rows in range(1, 9)}
    wrong = []

    def work(rows):
        for _ in range(300):
            if not (program(np.full((rows, 16), rows, np.float32)) == expected[rows]).all():
                wrong.append(rows)

    threads = [threading.Thread(target=work, args=(rows,)) for rows in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert program.counters()["runs"] == 8 + 8 * 300 and 1 <= program.counters()["instances"] <= 8


def without_the_gil():
    """While one thread is in a long call, another one goes on in Python."""
    loop = freestone.compile(model("""loop (float[n, n] x, int64 trips) => (float[n, n] y) {
      keep = Constant <value: tensor = bool {1}> ()
      y = Loop (trips, keep, x) <body = body (int64 i, bool c, float[n, n] a) => (bool d, float[n, n] b) {
        d = Identity(c) m = MatMul(a, a) b = Tanh(m) }>
    }"""), threads=1)
    x = np.eye(64, dtype=np.float32)
    loop(x, 1)
    inside = threading.Event()
    steps = 0

    def call():
        inside.set()
        loop(x, 20000)

    thread = threading.Thread(target=call)
    thread.start()
    inside.wait()
    while thread.is_alive():
        steps += 1
        time.sleep(0.001)
    assert steps > 3, steps


def beside_others():
    """Where other processes take the CPUs, workers lose theirs and take tiles from each other; one alone can't."""
    product = model("product (float[n, 768] x, float[768, 768] w) => (float[n, 768] y) { y = MatMul(x, w) }")
    x, w = np.ones((512, 768), np.float32), np.ones((768, 768), np.float32)
    alone, program = freestone.compile(product, threads=1), freestone.compile(product, threads=2)
    thieves = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in os.sched_getaffinity(0)]
    try:
        end = time.monotonic() + 60
        counters = program.counters()
        while counters.get("steals", 0) == 0 and time.monotonic() < end:
            assert (program(x, w) == 768).all() and (alone(x, w) == 768).all()
            counters = program.counters()
    finally:
        for thief in thieves:
            thief.kill()
            thief.wait()
    assert 0 < counters["claiming_runs"] <= counters["runs"] and counters["steals"] > 0 and counters["preemptions"] > 0, counters
    assert not any(alone.counters()[name] for name in ("claiming_runs", "steals", "preemptions")), alone.counters()


for test in (eight_threads, without_the_gil, beside_others):
    test()

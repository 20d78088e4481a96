"""Several threads call one program at the same time, without the GIL."""

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


for test in (eight_threads, without_the_gil):
    test()

"""Runs of several engines in turns, so that what else the machine does meets all of them."""

import time


def measure(runs, seconds):
    """The least CPU time of the calling thread that each of the functions takes, in milliseconds."""
    least = [float("inf")] * len(runs)
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for number, run in enumerate(runs):
            begin = time.thread_time()
            run()
            least[number] = min(least[number], time.thread_time() - begin)
    return [1e3 * value for value in least]

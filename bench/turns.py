"""Runs of several engines in turns, so that what else the machine does meets all of them."""

import time

SPINNING = 0.05  # seconds, at least as long as a peer's workers spin after its last run


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


def fastest(runs, seconds, threads, turn=0.1):
    """The least milliseconds of a run of each engine (name → function), in turns for so many seconds: CPU time on one
    thread, wall time on more. A turn on several threads begins with a pause, in which the workers of the engine before stop
    to spin; its first run, which warms caches, is not counted."""
    clock = time.process_time if threads == 1 else time.perf_counter
    least = dict.fromkeys(runs, float("inf"))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, run in runs.items():
            if threads > 1:
                time.sleep(SPINNING)
            run()
            over = time.perf_counter() + turn
            while True:
                begin = clock()
                run()
                least[name] = min(least[name], 1e3 * (clock() - begin))
                if time.perf_counter() >= over:
                    break
    return least

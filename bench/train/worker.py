"""One engine in a process of its own: worker.py ENGINE MODEL SIZE THREADS PRECISION MODELS, for race.py.

Writes `ready`, or `unavailable REASON`. For each line on its input, a number of seconds, it trains that long and writes
the seconds of every step; at the end of its input the peak of its memory in MiB.
"""

import json
import os
import resource
import sys
import time


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main():
    engine, model, size, threads, precision, models = sys.argv[1:]
    # Before loading any library that starts threads.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(threads)])
    os.environ["OMP_NUM_THREADS"] = threads
    import engines

    shape = tuple(int(extent) for extent in size.split("x"))
    try:
        step = engines.prepare(engine, model, shape, int(threads), precision, models)
        for index in range(3):
            step(index)
    except engines.Unavailable as reason:
        print("unavailable", reason, flush=True)
        return
    print("ready", flush=True)
    count = 0
    for line in sys.stdin:
        times, end = [], time.perf_counter() + float(line)
        step(count % engines.BATCHES)  # warms the caches, not counted
        while not times or time.perf_counter() < end:
            count += 1
            begin = time.perf_counter()
            step(count % engines.BATCHES)
            times.append(time.perf_counter() - begin)
        print(json.dumps(times), flush=True)
    print(peak(), flush=True)


if __name__ == "__main__":
    main()

"""What a machine's rates allow, for recurrent.py: of each part of a model the longer of its multiply-adds at the peak and its
weights at the speed at which they are read from where they lie.

Both rates are those that `freestone-peak THREADS MIB` measures in the same run: multiply-adds on registers, and reading as
many MiB again and again as there are weights between two uses of one, so that the cache level that holds them follows.
"""

import collections
import functools
import math
import subprocess

import freestone_runtime

# So many times the same: operations, a multiply-add being 2; bytes of weights, and of all that is read until they are again.
Part = collections.namedtuple("Part", "count flops bytes held")


# By the number of threads.
peaks = collections.defaultdict(float)


@functools.cache
def measure_reading(threads, mebibytes):
    """Bytes a second of all threads. Notes their peak, in operations a second. Both are the most of several times, since
    others may use the CPUs."""
    command = [freestone_runtime.build_folder() / "bin" / "freestone-peak", str(threads), str(mebibytes)]
    read = 0
    for _ in range(2):
        lines = subprocess.check_output(command, text=True).splitlines()
        peak, once = (1e9 * float(line.split()[0]) for line in lines)
        peaks[threads], read = max(peaks[threads], peak), max(read, once)
    return read


def get_limit(parts, threads):
    """Milliseconds."""
    reads = [measure_reading(threads, max(1, math.ceil(part.held / 2**20))) for part in parts]
    return 1e3 * sum(part.count * max(part.flops / peaks[threads], part.bytes / read) for part, read in zip(parts, reads))


def product(rows, inner, columns, held=None, count=1):
    """Of a weight [inner, columns] with so many rows."""
    size = 4 * inner * columns
    return Part(count, 2 * rows * inner * columns, size, held or size)


def of_layers(gates, hidden, layers, steps, batch):
    """What goes into a layer is one product for all steps; what it carries, one for each."""
    of_all = layers * 2 * 4 * gates * hidden**2
    inputs = product(steps * batch, hidden, gates * hidden, held=of_all, count=layers)
    return [inputs, product(batch, hidden, gates * hidden, count=layers * steps)]


def of_training(gates, hidden, layers, steps, batch):
    """Forward and back, the gradients of both weights, the input's of all layers but the first, and AdamW, which reads and
    writes weights and moments, and reads gradients."""
    weight = 4 * gates * hidden**2
    weights = 2 * layers * weight
    back = product(batch, gates * hidden, hidden, count=layers * steps)
    gradients = product(steps * batch, gates * hidden, hidden, held=2 * weights, count=3 * layers - 1)
    return of_layers(gates, hidden, layers, steps, batch) + [back, gradients, Part(1, 0, 7 * weights, 4 * weights)]


def of_blocks(blocks, rows, hidden):
    return [product(rows, hidden, hidden, held=blocks * 4 * hidden**2, count=blocks)]


def of_cell(columns, hidden, steps, batch):
    """A cell whose input and state each have one product."""
    inputs = product(steps * batch, hidden, columns * hidden)
    return [inputs, product(batch, hidden, columns * hidden, count=steps)]


def of_tree(hidden, nodes):
    """Each inner node encodes two children, and decodes them again."""
    both = 2 * 4 * 2 * hidden**2
    return [product(1, 2 * hidden, hidden, held=both, count=2 * nodes)]


def of_decoder(beams, words, steps, width=256, vocabulary=1000):
    """Of each word: queries and outputs of both attentions, its key and value, the inner layer, and all scores; and what
    attention reads of the words before, and of the memory."""
    weights = 4 * (14 * width**2 + vocabulary * width)
    parts = [product(steps, width, width, count=2)]
    for word in range(1, words + 1):
        read = 2 * 4 * width * (beams * word + steps)
        held = weights + read
        parts += [Part(1, 2 * beams * weights // 4, weights, held), Part(1, 4 * beams * width * (word + steps), read, held)]
    return parts

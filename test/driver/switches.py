"""Every optimization can be switched off: switches.py MODELS, a folder with the filled models.

Compiles each model as it is and without each optimization that did something there, if it did in less than two of the models
before. Without it its counter must be 0, and the outputs at small sizes the same but for rounding. Each switch must do something in some model, and so must
level 0 leave the numbers as they are.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import freestone_runtime
import numpy as np
import workloads

SIZES = {"gpt": [(1, 2), (2, 19)], "cnn": [(1,), (3,)], "mlp": [(1,), (7,)]}
# Name → counter.
SWITCHES = {
    "inline": "inlined",
    "epilogues": "epilogues",
    "rows": "rows",
    "maps": "maps",
    "pools": "pools",
    "connect": "connected",
    "pack-weights": "packed",
    "winograd": "transformed",
    "keep-packed": "kept_packed",
    "construct": "constructed",
    "transpositions": "transpositions",
    "coalesce": "coalesced",
    "side-by-side": "side_by_side",
    "generalise": "generalised",
    "share": "duplicates",
    "merge-phases": "merged_phases",
    "elide-waits": "elided",
    "overwrite": "overwritten",
    "narrow-waits": "narrowed",
    "claimed": "claimed",
    "reuse-memory": "reused",
    "copy-ahead": "copied_ahead",
    "reduce-short-loops": "unreduced_loops",
}
# test/training/switches.py tests those of training steps, scans.py that of values that loops keep.
OF_TRAINING = {"siblings", "scan-values", "state-layouts", "split-reductions", "residue-classes", "weight-gradients", "windows",
               "dot-products", "shorten-live-ranges", "donate"}
# test/codegen/convolutions.py tests that of gradients of single taps.
OF_TAPS = {"channels-apart"}
# test/codegen/skipped_taps.py, channel_vectors.py and pictures_together.py test those of small pictures.
OF_SMALL_PICTURES = {"skip-taps", "channel-vectors", "pictures-together"}
# test/codegen/overlapping_vectors.py tests that of the last pixels of rows, where masks are slow.
OF_LAST_PIXELS = {"overlap-vectors"}
# test/codegen/windows_in_place.py tests that of windows in chains.
OF_WINDOWS = {"windows-in-place"}
# test/training/batch_norms.py tests those of normalizations in training, and of depthwise filters.
OF_NORMS = {"factor-sums", "order-maps", "order-products", "long-rows", "sum-blocks"}
# test/codegen/integer_products.py and integer_convolutions.py test those of integers.
OF_INTEGERS = {"pair-products", "integer-products", "pack-strips"}
# test/codegen/rounded_products.py tests that of integers that numbers are rounded to, tabulated_maps.py that of functions
# of 8 bits.
OF_ROUNDING = {"rounded-products", "tabulated-maps"}
# test/driver/scatters.py tests that of scatters.
OF_SCATTERS = {"scatters-in-place"}
# test/tile/choose_tiles_lanes.mlir tests that of elements narrower than those of these models.
OF_NARROW = {"narrow-lanes"}
# test/tile/choose_tiles_parts.mlir tests that of rows of few elements that take long.
OF_ROW_PARTS = {"parts-of-rows"}
# test/codegen/alternating_panels.py tests that of panels in loops.
OF_PANELS = {"alternate"}
# test/codegen/sliced_epilogues.py tests that of gates.
OF_GATES = {"sliced-epilogues"}
# test/driver/segments.py tests that of segments.
OF_SEGMENTS = {"segments"}
# test/codegen/products.py tests those of few rows, columns and steps, of large results, and of products of words.
OF_PRODUCTS = {"pack-together", "stream-columns", "stream-rows", "inner-products", "strips", "bring-results", "direct-results"}
# test/codegen/next_tiles.py tests that of windows and gradients.
OF_TILES = {"bring-tiles"}
# test/training/bf16_convolutions.py tests that of convolutions of narrow numbers.
OF_WIDTHS = {"widen-pictures"}
# test/codegen/narrow_panels.py tests that of last panels.
OF_LAST = {"narrow-panels"}
# test/codegen/stored_constants.py tests that of processors with few registers.
OF_REGISTERS = {"store-constants"}
# test/codegen/split_products.py tests that of products in parts, on machines with a matrix unit.
OF_PARTS = {"split-products"}
# test/codegen/rows_across.py tests that of rows that lie across, rows_together.py those of short rows and of prefetches.
OF_ROWS = {"rows-across", "rows-together", "prefetch-rows"}
# test/driver/variants.py tests that of tilings for different sizes.
OF_SIZES = {"variants"}
# test/task/form_phases.mlir tests that of long sizes.
OF_LONG = {"name-sizes"}
# test/task/await_readers.mlir tests that of memory that nothing awaits.
OF_MEMORY = {"await-readers"}
# test/codegen/chains.py tests that of stages that read each other's rows.
OF_CHAINS = {"chains"}
# test/codegen/outer_loops.py tests that of stages under an outer loop.
OF_OUTER_LOOPS = {"outer-loops"}
# test/codegen/attention.py tests those of masked rows and of merged heads, attention_gradients.py that of gradients of softmax,
# masked_blocks.py that of masked blocks.
OF_ATTENTION = {"reassociate", "row-guards", "skip-masked", "split-batches"}
# test/driver/side_by_side.py tests that of independent operators.
OF_BRANCHES = {"schedule"}
# test/driver/short_branches.py tests that of branches.
OF_SIDES = {"select-branches"}
# test/driver/kept_operands.py tests that of what they return unchanged.
OF_KEPT = {"keep-operands"}
# test/codegen/decoders.py tests that of what loops carry, scans.py those of what they go along, of gates
# and of what they multiply by, iterations.py those of their order.
OF_LOOPS = {"append", "scan-products", "overlap-iterations", "double-buffer", "block-orders", "pack-in-loops", "reverse-loops", "keep-states"}
# test/codegen/convolutions.py tests those of single taps, of weights that are inputs, and of windows whose rows share
# elements.
OF_PICTURES = {"pictures-in-place", "pack-in-runs", "share-rows"}
# Optimizations that have an effect only without these others.
WITHOUT = {"maps": "inline", "elide-waits": "epilogues,rows,maps"}


def compile_and_run(model, name, *options):
    with tempfile.TemporaryDirectory() as folder:
        artifact = f"{folder}/model.stone"
        counters = freestone_runtime.compile_model(model, artifact, *options)
        compiled = freestone_runtime.Model(artifact, 2)
        outputs = [compiled.run(workloads.Workload(name, sizes).feeds())[0] for sizes in SIZES[name]]
        compiled.close()
        return counters, outputs


def known_switches():
    usage = subprocess.run([freestone_runtime.freestone(), "compile", "--help"], check=True, capture_output=True, text=True).stdout
    listed = re.search(r"^  --disable .*?(?=^  -)", usage, re.MULTILINE | re.DOTALL).group()
    return set(re.findall(r"^ {10,}([a-z-]+) \(", listed, re.MULTILINE))


def main():
    faults, effective = [], collections.Counter()
    tested = SWITCHES.keys() | OF_TRAINING | OF_INTEGERS | OF_SCATTERS | OF_NARROW | OF_ROW_PARTS | OF_GATES | OF_PANELS | OF_SEGMENTS
    tested |= OF_PRODUCTS | OF_TILES | OF_LAST | OF_REGISTERS | OF_PARTS | OF_ROWS | OF_SIZES | OF_ATTENTION | OF_BRANCHES | OF_LOOPS | OF_PICTURES | OF_SIDES | OF_CHAINS | OF_OUTER_LOOPS | OF_NORMS | OF_KEPT | OF_TAPS | OF_LONG | OF_MEMORY | OF_SMALL_PICTURES | OF_LAST_PIXELS | OF_WINDOWS | OF_ROUNDING | OF_WIDTHS
    if unknown := known_switches() ^ tested:
        faults.append(f"there are switches that are tested nowhere, or none any more: {unknown}")
    for name in SIZES:
        model = pathlib.Path(sys.argv[1]) / f"{name}.onnx"
        counters, expected = compile_and_run(model, name)
        print(name, {counter: counters[counter] for counter in SWITCHES.values()}, flush=True)

        def compare(option):
            without, outputs = compile_and_run(model, name, option)
            error = max(np.max(np.abs(a - b)) / np.max(np.abs(b)) for a, b in zip(outputs, expected))
            if not error <= 1e-5:
                faults.append(f"{name} {option}: the outputs differ by {error:.1e}")
            return without

        compare("-O0")
        for switch, counter in SWITCHES.items():
            others = WITHOUT.get(switch)
            before = compare(f"--disable={others}") if others and name == "gpt" else counters
            if before[counter] == 0 or effective[switch] == 2:
                continue
            effective[switch] += 1
            left = compare(f"--disable={others},{switch}" if others else f"--disable={switch}")[counter]
            if left != 0:
                faults.append(f"{name} without {switch}: {counter} is {left}")
    faults += [f"{switch} did nothing in any model" for switch in SWITCHES if switch not in effective]
    print("\n".join(faults) or f"{len(effective)} switches, each with an effect, and the same numbers without it")
    return 1 if faults else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "2")
    sys.exit(main())

"""Sizes that a model computes from data, compiled: data_sizes.py FOLDER; the environment names the build.

A picture's sizes times scales of an input, rounded down in f32, decide how it is resized, padded and repeated, and the shapes of
constants: as detection networks resize their inputs. They decide how long ranges are. Against numpy, at many sizes, with empty results,
by one worker and by two; a negative size ends the run with a message that names the node. And within a loop, whose carried
value grows so.

Sizes that must be equal and are known only then are compared: a mismatch ends the run with a message that names the node and
both sizes, before anything reads or writes what is beside a buffer. So are those within branches and loops, each time that
these run. Bags of rows are summed from one offset to the next, in a loop.
"""

import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[2] / folder) for folder in ("bench", "test/training")]

import freestone_runtime
import numpy as np
import onnx
from onnx import helper

from graphs import FLOAT, INT64, constant, node, save

SIZES = [(1, 1), (5, 6), (20, 31), (64, 48), (7, 300)]
SCALES = [(1, 1), (0.5, 2), (2.5, 0.7), (0.1, 1.3), (0, 1)]


def make(path):
    """y: x [1, c, h, w] resized, padded at its ends and repeated; z: zeros of the new height and width, plus their means."""
    nodes = [
        node("Shape", ["x"], ["shape"]),
        node("Slice", ["shape", "zero", "two"], ["rest"]),
        node("Slice", ["shape", "two", "four"], ["own"]),
        node("Cast", ["own"], ["reals"], to=FLOAT),
        node("Mul", ["reals", "scales"], ["scaled"]),
        node("Floor", ["scaled"], ["whole"]),
        node("Cast", ["whole"], ["sizes"], to=INT64),
        node("Concat", ["rest", "sizes"], ["target"], axis=0),
        node("Resize", ["x", "", "", "target"], ["resized"], mode="nearest", nearest_mode="floor",
             coordinate_transformation_mode="asymmetric"),
        # As PyTorch writes pads: in the opposite order, turned by reshapes and a slice of negative step.
        node("Concat", ["sizes", "none"], ["pads_reversed"], axis=0),
        node("Reshape", ["pads_reversed", "pairs"], ["paired"]),
        node("Slice", ["paired", "last", "before", "zero", "back"], ["turned"]),
        node("Transpose", ["turned"], ["columns"], perm=[1, 0]),
        node("Reshape", ["columns", "flat"], ["pads"]),
        node("Pad", ["resized", "pads"], ["padded"]),
        node("Concat", ["one", "sizes", "one"], ["repeats"], axis=0),
        node("Tile", ["padded", "repeats"], ["y"]),
        node("ConstantOfShape", ["sizes"], ["zeros"]),
        node("ReduceMean", ["resized", "first"], ["means"], keepdims=0),
        node("Add", ["zeros", "means"], ["sums"]),
        node("Expand", ["sums", "spread"], ["z"]),
        node("Concat", ["two", "sizes"], ["spread"], axis=0),
    ]
    nodes[-2:] = nodes[:-3:-1]
    numbers = {"zero": [0], "one": [1], "two": [2], "four": [4], "none": [0] * 6, "pairs": [4, 2], "last": [-1],
               "before": [-(1 << 62)], "back": [-1], "flat": [-1], "first": [0, 1]}
    save(path, nodes, [("x", FLOAT, [1, "c", "h", "w"]), ("scales", FLOAT, [2])],
         [("y", FLOAT, ["a", "b", "d", "e"]), ("z", FLOAT, ["f", "g", "i"])],
         [constant(name, values, np.int64) for name, values in numbers.items()])


def make_loop(path):
    """y: x with as many zeros behind it, in each iteration, as data say; the body is built again, since its sizes change."""
    names = {"c": onnx.TensorProto.BOOL, "a": FLOAT, "going": onnx.TensorProto.BOOL, "d": FLOAT}
    value = lambda name, shape: helper.make_tensor_value_info(name, names[name], shape)
    nodes = [node("Identity", ["c"], ["going"]), node("Cast", ["scales"], ["whole"], to=INT64),
             node("Slice", ["whole", "zero", "one"], ["first"]), node("ConstantOfShape", ["first"], ["some"]),
             node("ConstantOfShape", ["first"], ["others"]), node("Add", ["some", "others"], ["zeros"]),
             node("Concat", ["a", "zeros"], ["d"], axis=0)]
    trip = helper.make_tensor_value_info("i", INT64, [])
    body = helper.make_graph(nodes, "body", [trip, value("c", []), value("a", ["k"])], [value("going", []), value("d", ["l"])])
    save(path, [node("Loop", ["trips", "", "x"], ["y"], body=body)],
         [("trips", INT64, []), ("scales", FLOAT, [2]), ("x", FLOAT, ["n"])], [("y", FLOAT, ["m"])],
         [constant("zero", [0], np.int64), constant("one", [1], np.int64)])


def check_loop(folder, threads):
    model = freestone_runtime.Model(folder / "loop.stone", threads)
    x = np.arange(4, dtype=np.float32)
    for trips in (0, 1, 3):
        for scale in (0, 2.3, 40):
            (y,) = model.run({"trips": np.array(trips), "scales": np.array([scale, 9], np.float32), "x": x})
            np.testing.assert_array_equal(y, np.append(x, np.zeros(trips * int(scale), np.float32)), f"{trips} {scale}")


def make_matched(path):
    """y: x [n] as the matrix whose sizes are the greatest of `sizes` [2, q], and v: what is above 0 of it; z: the positions
    of what is not 0 in a and in b, added; w: parts of these positions, so that the sum of their numbers is long, as a matrix."""
    nodes = [
        node("ReduceMax", ["sizes", "one"], ["greatest"], keepdims=0),
        node("Cast", ["greatest"], ["whole"], to=INT64),
        node("Reshape", ["x", "whole"], ["y"]),
        node("Relu", ["y"], ["above"]),
        node("NonZero", ["a"], ["found"]),
        node("NonZero", ["b"], ["other"]),
        node("Add", ["found", "other"], ["z"]),
        # What is found, twice that, and what is found in b, each without its first element, one behind the other.
        node("Concat", ["found", "found"], ["pair"], axis=1),
        *(node("Slice", [source, "one", "end", "last"], [part])
          for source, part in (("found", "p"), ("pair", "q"), ("other", "r"))),
        node("Concat", ["p", "q", "r"], ["parts"], axis=1),
        node("Concat", ["parts", "parts", "found"], ["all"], axis=1),
        node("Reshape", ["all", "columns"], ["w"]),
        node("Reshape", ["above", "flat"], ["v"]),
    ]
    save(path, nodes, [("x", FLOAT, ["n"]), ("sizes", FLOAT, [2, "q"]), ("a", FLOAT, ["m"]), ("b", FLOAT, ["k"])],
         [("y", FLOAT, ["r", "c"]), ("z", INT64, [1, "f"]), ("w", INT64, ["g", 3]), ("v", FLOAT, ["n"])],
         [constant("one", [1], np.int64), constant("end", [1 << 40], np.int64), constant("last", [-1], np.int64),
          constant("columns", [-1, 3], np.int64), constant("flat", [-1], np.int64)])


def check_matched(folder, threads):
    model = freestone_runtime.Model(folder / "matched.stone", threads)
    random = np.random.default_rng(1)
    for rows, columns, count, lacking in ((3, 4, 5, 0), (7, 1, 2, 0), (50, 61, 3000, 0), (1, 1, 1, 0), (3, 4, 5, 1),
                                          (3, 4, 2999, 1)):
        x = random.standard_normal(rows * columns).astype(np.float32)
        a = (random.permutation(2 * count) < count).astype(np.float32)
        b = (random.permutation(3 * count) < count - lacking).astype(np.float32)
        as_input = lambda sizes: np.array([[0, size, size - 1] for size in sizes], np.float32)
        inputs = {"x": x, "sizes": as_input([rows, columns]), "a": a, "b": b}
        (found,), (other,) = np.nonzero(a), np.nonzero(b)
        if lacking:
            refuse(model, inputs, "must be")
            continue
        y, z, w, v = model.run(inputs)
        np.testing.assert_array_equal(y, x.reshape(rows, columns))
        np.testing.assert_array_equal(v, np.maximum(x, 0))
        np.testing.assert_array_equal(z, [found + other])
        parts = np.concatenate([found[1:], np.concatenate([found, found])[1:], other[1:]])
        np.testing.assert_array_equal(w, np.concatenate([parts, parts, found]).reshape(-1, 3))
        for sizes in ([rows, columns + 1], [rows + 3000, columns], [0, columns], [1 << 20, 1 << 20]):
            refuse(model, inputs | {"sizes": as_input(sizes)}, "node 'y': numbers of elements before and after a reshape")
        model.run(inputs)


def make_parts(path):
    """p and q: x [n] split into as many elements as the greatest of `sizes` [2, q] say; best and places: the first number of
    x's greatest elements; middle: x from the first number to the second one; levels: ones and twos, as many as the numbers say; above: the places of the twos, which are
    limited by the size of what has no limit."""
    nodes = [
        node("ReduceMax", ["sizes", "one"], ["greatest"], keepdims=0),
        node("Cast", ["greatest"], ["whole"], to=INT64),
        node("Slice", ["whole", "zero", "one"], ["first"]),
        node("Slice", ["whole", "one", "two"], ["second"]),
        node("Split", ["x", "whole"], ["p", "q"], axis=0),
        node("TopK", ["x", "first"], ["best", "places"]),
        node("Slice", ["x", "first", "second"], ["middle"]),
        # Constants fold to the beginning of the graph, where their sizes are not known.
        node("Mul", ["second", "two"], ["twice"]),
        *(node("ConstantOfShape", [count], [name], value=helper.make_tensor(name, INT64, [1], [number]))
          for count, name, number in (("first", "ones", 1), ("twice", "twos", 2))),
        node("Concat", ["ones", "twos"], ["levels"], axis=0),
        node("Greater", ["levels", "one"], ["are_twos"]),
        node("NonZero", ["are_twos"], ["above"]),
    ]
    save(path, nodes, [("x", FLOAT, ["n"]), ("sizes", FLOAT, [2, "q"])],
         [("p", FLOAT, ["a"]), ("q", FLOAT, ["b"]), ("best", FLOAT, ["c"]), ("places", INT64, ["c"]), ("middle", FLOAT, ["d"]),
          ("levels", INT64, ["e"]), ("above", INT64, [1, "f"])],
         [constant(name, [number], np.int64) for name, number in (("zero", 0), ("one", 1), ("two", 2))])


def check_parts(folder, threads):
    model = freestone_runtime.Model(folder / "parts.stone", threads)
    random = np.random.default_rng(2)
    as_input = lambda sizes: np.array([[0, size, size - 1] for size in sizes], np.float32)
    for first, second in ((3, 5), (0, 4), (4, 0), (1, 2000), (1000, 1001)):
        x = random.permutation(first + second).astype(np.float32)
        p, q, best, places, middle, levels, above = model.run({"x": x, "sizes": as_input([first, second])})
        np.testing.assert_array_equal(p, x[:first])
        np.testing.assert_array_equal(q, x[first:])
        np.testing.assert_array_equal(places, np.argsort(-x)[:first])
        np.testing.assert_array_equal(best, x[places])
        np.testing.assert_array_equal(middle, x[first:second])
        np.testing.assert_array_equal(levels, np.repeat([1, 2], [first, 2 * second]))
        np.testing.assert_array_equal(above, np.nonzero(levels > 1))
        refuse(model, {"x": x, "sizes": as_input([first, second + 1])}, "the sum of the parts")
        refuse(model, {"x": x, "sizes": as_input([first + 5000, second])}, "must be")


def make_regions(path):
    """total: the places of what is not 0 in a[i] and in b[i], added, over all iterations; y: x plus w where a flag is true,
    else x; z: x plus w, as often as a loop runs. A loop compares what it finds, a branch and a loop what is known before."""
    any_bool, bools = onnx.TensorProto.BOOL, lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.BOOL, [])
    value = helper.make_tensor_value_info
    counting = helper.make_graph(
        [node("Identity", ["c"], ["going"]), node("Gather", ["a", "i"], ["a_row"]), node("Gather", ["b", "i"], ["b_row"]),
         node("NonZero", ["a_row"], ["found"]), node("NonZero", ["b_row"], ["other"]),
         node("Add", ["found", "other"], ["both"], "both"), node("ReduceSum", ["both"], ["sum"], keepdims=0),
         node("Add", ["before", "sum"], ["after"])],
        "counting", [value("i", INT64, []), bools("c"), value("before", INT64, [])], [bools("going"), value("after", INT64, [])])
    adding = helper.make_graph([node("Add", ["x", "w"], ["sum_of_two"], "branch")], "adding", [], [value("sum_of_two", FLOAT, None)])
    keeping = helper.make_graph([node("Identity", ["x"], ["same"])], "keeping", [], [value("same", FLOAT, None)])
    repeating = helper.make_graph(
        [node("Identity", ["d"], ["on"]), node("Add", ["z_before", "w"], ["z_after"], "repeated")],
        "repeating", [value("j", INT64, []), bools("d"), value("z_before", FLOAT, ["n"])], [bools("on"), value("z_after", FLOAT, ["n"])])
    save(path, [node("Loop", ["trips", "", "zero"], ["total"], body=counting),
                node("If", ["flag"], ["y"], then_branch=adding, else_branch=keeping),
                node("Loop", ["more", "", "x"], ["z"], body=repeating)],
         [("trips", INT64, []), ("a", FLOAT, ["t", "m"]), ("b", FLOAT, ["t", "k"]), ("flag", any_bool, []), ("x", FLOAT, ["n"]),
          ("w", FLOAT, ["q"]), ("more", INT64, [])],
         [("total", INT64, []), ("y", FLOAT, ["n"]), ("z", FLOAT, ["n"])], [constant("zero", 0, np.int64)])


def check_regions(folder, threads):
    model = freestone_runtime.Model(folder / "regions.stone", threads)
    random = np.random.default_rng(3)
    for trips, count, n in ((0, 3, 4), (1, 1, 1), (5, 40, 3000), (3, 5000, 7)):
        a, b = (np.array([random.permutation(size) < count for _ in range(trips)], np.float32).reshape(trips, size)
                for size in (2 * count, 3 * count))
        x, w = random.standard_normal((2, n), np.float32)
        inputs = {"trips": np.array(trips), "a": a, "b": b, "flag": np.array(True), "x": x, "w": w, "more": np.array(2)}
        places = sum((np.nonzero(p)[0] + np.nonzero(q)[0]).sum() for p, q in zip(a, b))
        total, y, z = model.run(inputs)
        assert total == places, (total, places)
        np.testing.assert_array_equal(y, x + w)
        np.testing.assert_array_equal(z, x + w + w)
        for row in range(trips):
            lacking = b.copy()
            lacking[row, np.nonzero(b[row])[0][-1]] = 0
            refuse(model, inputs | {"b": lacking}, "node 'both'", f"is {count}, but must be {count - 1}")
        longer = inputs | {"w": np.append(w, 1).astype(np.float32)}
        refuse(model, longer, "node 'branch'", f"is {n}, but must be {n + 1}")
        refuse(model, longer | {"flag": np.array(False)}, "node 'repeated'", f"is {n}, but must be {n + 1}")
        # What does not run requires nothing.
        _, y, z = model.run(longer | {"flag": np.array(False), "more": np.array(0)})
        np.testing.assert_array_equal(y, x)
        np.testing.assert_array_equal(z, x)
        model.run(inputs)


def make_bags(path):
    """y [b, 3]: the sums of rows of x [n, 3] from each of the ascending `offsets` [b] up to the next one, as PyTorch writes bags
    of embeddings: a carried number says where a slice of one element begins, that element where a slice of rows does."""
    value = helper.make_tensor_value_info
    none = helper.make_graph([node("Identity", ["zeros"], ["nothing"])], "none", [], [value("nothing", FLOAT, [3])])
    rows = helper.make_graph([node("Slice", ["x", "start", "end"], ["rows"]), node("ReduceSum", ["rows", "zero"], ["sum"], keepdims=0)],
                             "rows", [], [value("sum", FLOAT, None)])
    body = helper.make_graph(
        [node("Reshape", ["k", "flat"], ["first"]), node("Add", ["first", "one"], ["second"]),
         node("Add", ["first", "two"], ["third"]), node("Slice", ["all", "first", "second"], ["start"]),
         node("Slice", ["all", "second", "third"], ["end"]), node("Equal", ["start", "end"], ["are_none"]),
         node("If", ["are_none"], ["bag"], then_branch=none, else_branch=rows),
         node("Add", ["k", "step"], ["next"]), node("Less", ["next", "count"], ["going"])],
        "body", [value("i", INT64, []), value("c", onnx.TensorProto.BOOL, []), value("k", INT64, [])],
        [value("going", onnx.TensorProto.BOOL, []), value("next", INT64, []), value("bag", FLOAT, None)])
    save(path, [node("Shape", ["x"], ["length"], end=1), node("Concat", ["offsets", "length"], ["all"], axis=0),
                node("Size", ["offsets"], ["count"]), node("Less", ["begin", "count"], ["any"]),
                node("Loop", ["", "any", "begin"], ["last", "y"], body=body)],
         [("x", FLOAT, ["n", 3]), ("offsets", INT64, ["b"])], [("y", FLOAT, ["b", 3])],
         [constant(name, values, np.int64) for name, values in
          {"zero": [0], "one": [1], "two": [2], "flat": [-1], "begin": 0, "step": 1}.items()] + [constant("zeros", np.zeros(3))])


def check_bags(folder, threads):
    model = freestone_runtime.Model(folder / "bags.stone", threads)
    random = np.random.default_rng(7)
    for length, count in ((0, 1), (1, 1), (9, 4), (300, 40), (5, 0)):
        x = random.standard_normal((length, 3), np.float32)
        offsets = np.sort(np.append(random.integers(0, length + 1, max(count - 1, 0)), [0] * (count > 0)))
        (y,) = model.run({"x": x, "offsets": offsets})
        ends = np.append(offsets, length)[1:] if count else offsets
        right = np.array([x[start:end].sum(0) for start, end in zip(offsets, ends, strict=True)], np.float32).reshape(count, 3)
        np.testing.assert_allclose(y, right, rtol=1e-5, atol=1e-5, err_msg=f"{length} {count}")


def make_ranges(path):
    """y, z, w: whole numbers up to the greatest of a row of `numbers` [3, q]; those from the first one to the second in steps
    of the third; and the same in floats."""
    parts = [(f"{kind}_{name}", f"{kind}_row", index) for kind in ("whole", "real") for name, index in
             (("start", "zero"), ("limit", "one"), ("step", "two"))]
    nodes = [
        node("ReduceMax", ["numbers", "one"], ["real_row"], keepdims=0),
        node("Cast", ["real_row"], ["whole_row"], to=INT64),
        *(node("Gather", [row, index], [f"{name}_one"]) for name, row, index in parts),
        *(node("Squeeze", [f"{name}_one"], [name]) for name, _, _ in parts),
        node("Range", ["none", "whole_limit", "unit"], ["y"]),
        *(node("Range", [f"{kind}_{name}" for name in ("start", "limit", "step")], [y]) for kind, y in (("whole", "z"), ("real", "w"))),
    ]
    save(path, nodes, [("numbers", FLOAT, [3, "q"])], [("y", INT64, ["a"]), ("z", INT64, ["b"]), ("w", FLOAT, ["c"])],
         [constant(name, values, np.int64) for name, values in {"zero": [0], "one": [1], "two": [2], "none": 0, "unit": 1}.items()])


def check_ranges(folder, threads):
    model = freestone_runtime.Model(folder / "ranges.stone", threads)
    for start, limit, step in ((0, 5, 1), (3, 4000, 7), (0, 0, 1), (2, -9, 1), (2, -9, -2), (-4, 9, 2.5), (1, 2, 1 << 20), (9, 1, 3)):
        numbers = np.array([[number - 1, number] for number in (start, limit, step)], np.float32)
        y, z, w = model.run({"numbers": numbers})
        np.testing.assert_array_equal(y, np.arange(limit), f"{limit}")
        np.testing.assert_array_equal(z, np.arange(start, limit, int(step)), f"{start} {limit} {step}")
        np.testing.assert_array_equal(w, np.arange(start, limit, step, np.float32), f"{start} {limit} {step}")
    # 0.5 is 0 as a whole number.
    for start, limit, step in ((1, 5, 0), (5, 1, 0), (2, 2, 0), (0, 5, 0.5)):
        numbers = np.array([[number - 1, number] for number in (start, limit, step)], np.float32)
        refuse(model, {"numbers": numbers}, "node '", "the step is 0")


def refuse(model, inputs, *texts):
    try:
        model.run(inputs)
    except Exception as error:  # the runtime's errors are of no type of their own
        assert all(text in str(error) for text in texts), error
    else:
        raise AssertionError(f"not refused: {texts}")


def expected(x, scales):
    sizes = np.floor(np.array(x.shape[2:], np.float32) * scales).astype(np.int64)
    height, width = sizes
    places = [np.floor(np.arange(size) * (extent / max(size, 1))).astype(np.int64)
              for size, extent in zip(sizes, x.shape[2:], strict=True)]
    resized = x[:, :, places[0]][:, :, :, places[1]]
    padded = np.pad(resized, ((0, 0), (0, 0), (0, 0), (int(height), int(width))))
    y = np.tile(padded, (1, int(height), int(width), 1))
    return y, np.broadcast_to(resized.mean((0, 1)), (2, height, width))


def check(model, x, scales):
    y, z = model.run({"x": x, "scales": scales})
    for result, right in zip((y, z), expected(x, scales), strict=True):
        assert result.shape == right.shape, (x.shape, scales, result.shape, right.shape)
        np.testing.assert_allclose(result, right, rtol=2e-6, err_msg=f"{x.shape} {scales}")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    make(folder / "m.onnx")
    freestone_runtime.compile_model(folder / "m.onnx", folder / "m.stone")
    make_matched(folder / "matched.onnx")
    freestone_runtime.compile_model(folder / "matched.onnx", folder / "matched.stone")
    make_parts(folder / "parts.onnx")
    freestone_runtime.compile_model(folder / "parts.onnx", folder / "parts.stone")
    make_loop(folder / "loop.onnx")
    freestone_runtime.compile_model(folder / "loop.onnx", folder / "loop.stone")
    make_regions(folder / "regions.onnx")
    freestone_runtime.compile_model(folder / "regions.onnx", folder / "regions.stone")
    make_bags(folder / "bags.onnx")
    freestone_runtime.compile_model(folder / "bags.onnx", folder / "bags.stone")
    make_ranges(folder / "ranges.onnx")
    freestone_runtime.compile_model(folder / "ranges.onnx", folder / "ranges.stone")
    random = np.random.default_rng(0)
    for threads in (1, 2):
        check_ranges(folder, threads)
        check_bags(folder, threads)
        check_regions(folder, threads)
        check_loop(folder, threads)
        check_matched(folder, threads)
        check_parts(folder, threads)
        model = freestone_runtime.Model(folder / "m.stone", threads)
        for sizes in SIZES:
            for scales in SCALES:
                x = random.random((1, 3, *sizes), np.float32)
                scales = np.array(scales, np.float32)
                height, width = np.array(sizes) * scales
                if height**2 * width * (height + 2 * width) < 1e6:
                    check(model, x, scales)
        refuse(model, {"x": x, "scales": np.array([-1, 1], np.float32)}, "a size is negative")
        check(model, x, np.ones(2, np.float32))
    print("sizes from data are right")


if __name__ == "__main__":
    main()

"""The tables of the zoo, of what was measured. An empty field was not measured; ratios are Freestone's of the best peer's."""

import math
import statistics

TITLES = {"onnxruntime": "ONNX Runtime", "openvino": "OpenVINO", "torch": "PyTorch", "torch.compile": "torch.compile"}


def ratio(figures, engines):
    """Our figure of the best peer's."""
    peers = [figures[engine] for engine in engines if engine in figures]
    return figures["freestone"] / min(peers) if peers and "freestone" in figures else None


def text(value, form="{:.2f}"):
    return "" if value is None else form.format(value)


def number(value):
    """Three digits that count."""
    return "" if value is None else f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


class Table:
    """Rows, and the means of what columns of ratios have; a table without a figure is not printed."""

    def __init__(self, title, columns):
        self.title, self.columns, self.rows, self.ratios = title, ["network", *columns], [], {}

    def add(self, name, cells):
        if any(cells):
            self.rows.append([name, *cells])

    def ratio(self, column, value):
        if value is not None:
            self.ratios.setdefault(column, []).append(value)
        return text(value)

    def print(self):
        if not self.rows:
            return
        print(f"\n{self.title}:\n\n| {' | '.join(self.columns)} |\n" + "|---" * len(self.columns) + "|")
        for row in self.rows:
            print("| " + " | ".join(row) + " |")
        for column, values in self.ratios.items():
            mean = math.exp(statistics.fmean(map(math.log, values)))
            print(f"\n{column}: geometric mean {mean:.2f}, worst {max(values):.2f}, {len(values)} networks")


def memory_cells(table, results, name, what, peers):
    found = {engine: results.get(what, name, engine).get("mib") for engine in ("freestone", *peers)}
    known = {engine: mib for engine, mib in found.items() if mib is not None}
    return [*(text(mib, "{:.0f}") for mib in found.values()), table.ratio("memory", ratio(known, peers))]


def print_networks(results, names):
    table = Table("Compiled once for all sizes; errors at six sizes, of the output's largest magnitude, from ONNX Runtime's",
                  ["compiled in s", "error", "x86-64-v3: error", "older exporter: compiled in s", "error", "MiB",
                   "ONNX Runtime", "OpenVINO", "ratio"])
    for name in names:
        cells = []
        for form, target, parts in (("dynamo", "host", "ce"), ("dynamo", "x86-64-v3", "e"), ("torchscript", "host", "ce")):
            if "c" in parts:
                cells.append(text(results.get("compile", name, form, target).get("compile_s")))
            cells.append(text(results.get("agreement", name, form, target).get("error"), "{:.0e}"))
        table.add(name, cells + memory_cells(table, results, name, "memory", ("onnxruntime", "openvino")))
    table.print()


def time_columns(counts, peers):
    columns = []
    for count in counts:
        columns += [f"{count} thread{'s' * (count > 1)}: ms", *(TITLES[peer] for peer in peers), "ratio", "limit", "reached"]
    return columns


def time_cells(table, figures, count, peers):
    """Times, the ratio, the limit and by what it is one, and which part of it was reached."""
    limit = figures.get("limit_ms")
    cells = [number(figures.get(engine)) for engine in ("freestone", *peers)]
    cells.append(table.ratio(f"{count} thread{'s' * (count > 1)}", ratio(figures, peers)))
    cells.append(f"{number(limit)} {figures['bound']}" if limit else "")
    return [*cells, text(limit and limit / figures["freestone"], "{:.0%}")]


def print_inference(results, names, target, threads):
    peers = ("torch",) if target == "x86-64-v3" else ("onnxruntime", "openvino")
    held = "; PyTorch is held to AVX2, ONNX Runtime and OpenVINO can't be" if target == "x86-64-v3" else ""
    table = Table(f"Inference, {target}{held}", time_columns(threads, peers))
    for name in names:
        table.add(name, [cell for count in threads
                         for cell in time_cells(table, results.get("inference", name, target, count), count, peers)])
    table.print()


def print_training(results, names, target, precision, threads):
    peers = ("torch", "torch.compile") if target == "host" else ("torch",)
    held = "; PyTorch is held to AVX2" if target == "x86-64-v3" else ""
    compiled = ["compiled in s", *(["torch.compile in s"] if len(peers) > 1 else [])]
    table = Table(f"A step with AdamW, {target}, {precision}{held}", [*compiled, *time_columns(threads, peers)])
    for name in names:
        cells = [text(results.get("step-compile", name, target, precision).get("compile_s"))]
        if len(peers) > 1:
            cells.append(text(results.get("torch-compile", name, precision, threads[-1]).get("compile_s"), "{:.0f}"))
        for count in threads:
            cells += time_cells(table, results.get("training", name, target, precision, count), count, peers)
        table.add(name, cells)
    table.print()


def print_parity(results, names):
    sparing = {"recomputing": "--recompute blocks", "early": "--update early", "least": "both"}
    table = Table("Training", ["losses of 30 steps", "MiB", "PyTorch", "ratio",
                               *(cell for title in sparing.values() for cell in (f"{title}: MiB", "ratio"))])
    for name in names:
        cells = [text(results.get("losses", name).get("difference"), "{:.0e}")]
        cells += memory_cells(table, results, name, "training-memory", ("torch",))
        theirs = results.get("training-memory", name, "torch").get("mib")
        for engine, title in sparing.items():
            ours = results.get("training-memory", name, engine).get("mib")
            cells += [text(ours, "{:.0f}"), table.ratio(f"memory, {title}", theirs and ours and ours / theirs)]
        table.add(name, cells)
    table.print()


def print_all(results, names, targets, threads, precisions):
    print(f"{results.here}. Milliseconds, the least of runs in turns. The limit is what the operations of products and\n"
          "convolutions take at the peak, or bytes that must come from memory at its bandwidth, both measured beside each row.")
    print_networks(results, names)
    for target in targets:
        print_inference(results, names, target, threads)
    for target in targets:
        for precision in precisions:
            print_training(results, names, target, precision, threads)
    print_parity(results, names)

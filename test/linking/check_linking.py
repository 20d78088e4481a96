"""The dependencies and exports of the binaries: running artifacts loads no LLVM, and each library exports its interface alone.

Usage: check_linking.py libfreestone_runtime.so freestone libfreestone_trainer.so libfreestone_compilation.so [libfreestone_compiler.so]
"""

import os
import re
import subprocess
import sys
import tempfile

largestRuntime = 1 << 20  # bytes, stripped


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported(library):
    """The symbols that a shared library exports (nm prints the kinds of local ones in lower case)."""
    symbols = (line.split()[-2:] for line in output("nm", "-D", "--defined-only", library).splitlines())
    return {name for kind, name in symbols if kind.isupper() or kind in "uvw"}


def strippedSize(library):
    with tempfile.NamedTemporaryFile() as stripped:
        subprocess.run(["strip", "-o", stripped.name, library], check=True)
        return os.path.getsize(stripped.name)


def faults(runtime, tool, trainer, compilation, compiler=None):
    for binary in (runtime, tool, trainer, compilation):
        loaded = re.findall(r"lib(?:LLVM|MLIR|freestone_compiler)\S*", output("ldd", binary))
        if loaded:
            yield f"{binary} loads {', '.join(loaded)}"
    size = strippedSize(runtime)
    if size >= largestRuntime:
        yield f"{runtime} has {size} bytes when stripped, not less than {largestRuntime}"
    foreign = {name for name in exported(runtime) if not name.startswith("freestone_")}
    if foreign:
        yield f"{runtime} exports {', '.join(sorted(foreign)[:5])}"
    # the mangled functions of freestone::Trainer
    foreign = {name for name in exported(trainer) if not re.match(r"_ZNK?9freestone7Trainer(?!14Implementation)", name)}
    if foreign:
        yield f"{trainer} exports {', '.join(sorted(foreign)[:5])}"
    own = {"freestone_check", "freestone_compile", "freestone_compile_graph", "freestone_inspect"}
    foreign = {name for name in exported(compilation) - own if not name.startswith("freestone_graph_")}
    if foreign:
        yield f"{compilation} exports {', '.join(sorted(foreign)[:5])}"
    if compiler and exported(compiler) != {"freestone_compiler"}:
        yield f"{compiler} exports {', '.join(sorted(exported(compiler))[:5])} and not freestone_compiler alone"


if __name__ == "__main__":
    found = list(faults(*sys.argv[1:]))
    print("\n".join(found) or "every binary links and exports what it should")
    sys.exit(1 if found else 0)

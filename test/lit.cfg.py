"""How lit runs the tests of a room: freestone, freestone-opt, FileCheck and `not` are on the path."""

import os

import lit.formats

config.name = "freestone"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["models", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.freestone_binary_dir, "test")

tools = [os.path.join(config.freestone_binary_dir, "bin"), config.llvm_tools_dir]
# Tests must not touch the user's cache.
config.environment["FREESTONE_CACHE_DIR"] = os.path.join(config.freestone_binary_dir, "test", "cache-of-tests")
# The machine that the tests run as.
if "FREESTONE_HOST" in os.environ:
    config.environment["FREESTONE_HOST"] = os.environ["FREESTONE_HOST"]
config.environment["PATH"] = os.pathsep.join(tools + [config.environment["PATH"]])

config.substitutions.append(("%models", os.path.join(config.test_source_root, "models")))
config.substitutions.append(("%examples", os.path.join(config.freestone_source_dir, "examples")))
config.substitutions.append(("%python", config.freestone_python))

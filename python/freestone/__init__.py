"""Freestone: compiles and trains ONNX models, once for all shapes.

    program = freestone.compile("model.onnx")
    logits = program(x=x)
    program.save("model.stone")

See docs/python.md.
"""

from freestone._freestone import version as __version__
from freestone.compiling import check, compile, load
from freestone.errors import (BadArtifact, Cancelled, Error, FileError, Incompatible, InternalError, InvalidArgument,
                              OutOfMemory, RunFailed, ShapeError, Unsupported)
from freestone.program import Program, Size, Value
from freestone.trainer import EvaluationReport, StepReport, Trainer

__all__ = [
    "BadArtifact", "Cancelled", "Error", "EvaluationReport", "FileError", "Incompatible", "InternalError",
    "InvalidArgument", "OutOfMemory", "Program", "RunFailed", "ShapeError", "Size", "StepReport", "Trainer",
    "Unsupported", "Value", "__version__", "check", "compile", "load",
]

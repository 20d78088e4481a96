"""The stub that is generated tells everything that the module has, and all that is public says what it is."""

import ast
import inspect
import pathlib

import freestone
import freestone.onnx_backend
from freestone import _freestone

folder = pathlib.Path(freestone.__file__).parent
assert (folder / "py.typed").exists()
stub = ast.parse((folder / "_freestone.pyi").read_text())
told = {node.name: node for node in stub.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
for name, value in vars(_freestone).items():
    if name.startswith("__") or not (inspect.isclass(value) or callable(value)):
        continue
    assert name in told, f"the stub lacks {name}"
    if inspect.isclass(value):
        members = {node.name for node in ast.walk(told[name]) if isinstance(node, ast.FunctionDef)}
        for member in vars(value):
            assert member.startswith("__") or member in members, f"the stub lacks {name}.{member}"

for name in freestone.__all__:
    value = getattr(freestone, name)
    if name == "__version__":
        continue
    assert value.__doc__, f"{name} has no docstring"
    if inspect.isclass(value) and issubclass(value, (freestone.Program, freestone.Trainer)):
        for member, function in vars(value).items():
            if not member.startswith("_") and inspect.isfunction(function):
                assert function.__doc__, f"{name}.{member} has no docstring"
                assert "return" in function.__annotations__, f"{name}.{member} is not typed"

"""Where the shared libraries are: in the package, or where FREESTONE_LIBRARY_PATH says."""

from __future__ import annotations

import os


def find_library(name: str) -> str:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folders = [os.environ.get("FREESTONE_LIBRARY_PATH", ""), package, os.path.join(package, "lib")]
    for folder in folders:
        path = os.path.join(folder, name)
        if folder and os.path.exists(path):
            return path
    return name

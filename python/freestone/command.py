"""The command `freestone` of the wheel."""

import os
import sys

_BINARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "freestone")


def main() -> None:
    """Becomes the command."""
    if not os.path.exists(_BINARY):
        sys.exit("freestone: the command comes with the compiler: pip install freestone")
    os.execv(_BINARY, [_BINARY, *sys.argv[1:]])


if __name__ == "__main__":
    main()

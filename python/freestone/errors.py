"""What Freestone raises: one sentence that names the thing and says what to do next."""

from __future__ import annotations


class Error(Exception):
    """The base of all errors of Freestone."""


class InvalidArgument(Error, ValueError):
    """An unknown name, a wrong option, a call out of order, or a model that can't be read or is invalid."""


class FileError(Error, OSError):
    """A file can't be opened, read or written."""


class BadArtifact(Error, ValueError):
    """Not a compiled model, or one that is truncated or altered."""


class Incompatible(Error):
    """A compiled model for another version or processor, or the compiler is missing."""


class ShapeError(Error, ValueError):
    """An array's element type, rank, layout or size, or sizes that contradict each other."""


class OutOfMemory(Error, MemoryError):
    """Memory could not be reserved."""


class Cancelled(Error):
    """A run was ended from outside."""


class RunFailed(Error):
    """Data made the result undefined, such as an index out of range."""


class Unsupported(Error, NotImplementedError):
    """A valid model that uses what can't be compiled; the message names the nodes."""


class InternalError(Error):
    """A fault of Freestone."""


# In the order of the C interface's statuses.
_CLASSES = (InvalidArgument, FileError, BadArtifact, Incompatible, ShapeError, OutOfMemory, Cancelled, RunFailed,
            Unsupported, InternalError)


def of_status(status: int) -> type[Error]:
    """The class of a status of the C interface."""
    return _CLASSES[status - 1] if 0 < status <= len(_CLASSES) else InternalError

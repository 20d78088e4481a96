"""That a call raises what it should."""

import freestone


def raised(kind, call, *words):
    """Calls and expects exactly this class of error, with these words in its sentence."""
    try:
        call()
    except freestone.Error as error:
        assert type(error) is kind, (kind, type(error), error)
        for word in words:
            assert word in str(error), (word, str(error))
        assert "\n" not in str(error) or kind is freestone.Unsupported
    else:
        raise AssertionError(f"no {kind.__name__}")

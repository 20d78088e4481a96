"""The cache as seen by a user of the command: the variables, the verbs under `cache`, and the messages during a wait.

command.py FREESTONE
"""

import fcntl
import json
import subprocess

from user import freestone, run_checks


def check_places(user):
    """The cache's locations."""
    for variables, folder in (({}, ".cache/freestone"), ({"XDG_CACHE_HOME": "xdg"}, "xdg/freestone"),
                              ({"XDG_CACHE_HOME": "xdg", "FREESTONE_CACHE_DIR": "own"}, "own")):
        user.variables = {"HOME": str(user.home), **{name: str(user.home / value) for name, value in variables.items()}}
        assert not (user.home / folder).exists()
        assert user.compile() is False and user.compile() is True, variables
        assert len(list((user.home / folder / "model").iterdir())) == 1
        assert user.json("stat")["folder"] == str(user.home / folder)
        assert (user.home / folder).stat().st_mode & 0o777 == 0o700
    user.variables = {}
    assert user.compile() is False and user.compile() is False, "without a home there is no cache"
    assert "set FREESTONE_CACHE_DIR" in user.run("cache", "stat", status=1).stderr


def check_modes(user):
    """off, ro, rw and --no-cache."""
    folder = user.home / ".cache/freestone"

    def listing():
        return sorted((str(file), file.stat().st_mtime_ns) for file in folder.rglob("*"))

    for mode in ("off", "ro"):
        user.variables["FREESTONE_CACHE"] = mode
        assert user.compile(0) is False
        assert not folder.exists(), mode
    user.variables["FREESTONE_CACHE"] = "rw"
    assert user.compile(0, "--no-cache") is False
    kept = [file for file in folder.rglob("*") if file.is_file()]
    assert all(file.parent.name == "machine" or file.name == "CACHEDIR.TAG" for file in kept), kept
    user.compile()
    before = listing()
    user.variables["FREESTONE_CACHE"] = "off"
    assert user.compile(0) is False
    user.variables["FREESTONE_CACHE"] = "ro"
    assert user.compile(0) is True and user.compile(1) is False
    assert listing() == before
    user.variables["FREESTONE_CACHE"] = "sometimes"
    assert "off, ro or rw" in user.run("compile", user.models[0], status=2).stderr
    # The verbs under `cache` work even if compilations do not use it.
    user.variables["FREESTONE_CACHE"] = "off"
    assert len(user.keys()) == 1


def check_size(user):
    """FREESTONE_CACHE_SIZE, prune and clear."""
    user.compile(0)
    all_of_first = user.json("stat")["bytes"]
    user.compile(1)
    assert len(user.keys()) == 2
    entries = user.json("list")
    assert all(set(entry) == {"kind", "key", "bytes", "last_use_ns", "ingredients"} for entry in entries)
    assert [entry["last_use_ns"] for entry in entries] == sorted((entry["last_use_ns"] for entry in entries), reverse=True)
    assert user.json("prune") == {"removed": 0, "left": len(entries)}, "by default to what FREESTONE_CACHE_SIZE says"
    assert "must be a number of bytes" in user.run("cache", "prune", "--size", "much", status=2).stderr
    pruned = user.json("prune", "--size", str(all_of_first))
    assert pruned["removed"] > 0 and pruned["removed"] + pruned["left"] == len(entries), pruned
    assert user.json("stat")["bytes"] <= all_of_first
    newest = [entry["key"] for entry in entries][: pruned["left"]]
    assert [entry["key"] for entry in user.json("list")] == newest, "what was used last stays"

    user.variables["FREESTONE_CACHE_SIZE"] = str(all_of_first)
    assert user.json("stat")["max_bytes"] == all_of_first
    for number in (0, 1, 0, 1):
        user.compile(number)
        assert user.json("stat")["bytes"] <= all_of_first
    user.variables["FREESTONE_CACHE_SIZE"] = "10K"
    assert "larger than FREESTONE_CACHE_SIZE" in user.run("compile", user.models[0], "--target", "x86-64-v3").stderr
    user.variables["FREESTONE_CACHE_SIZE"] = "some"
    assert "FREESTONE_CACHE_SIZE is 'some'" in user.run("compile", user.models[0], status=2).stderr
    del user.variables["FREESTONE_CACHE_SIZE"]

    # Whether the bound of 10 KiB leaves any entry depends on the size of the machine's description.
    user.compile(0)
    left = len(user.json("list"))
    assert left > 0 and user.json("clear") == {"removed": left, "left": 0}
    assert user.json("list") == [] and user.json("stat")["bytes"] == 0
    assert "0 entries removed, 0 left" in user.run("cache", "prune").stdout


def check_verify_and_explain(user):
    user.compile(0)
    user.compile(0, "--bind", "batch=3")
    first, second = reversed(user.keys())
    verified = user.json("verify")
    assert verified == {"entries": len(user.json("list")), "damaged": []}
    assert user.run("cache", "verify").stdout == f"{verified['entries']} entries, 0 damaged\n"
    assert user.json("explain", first, second) == ["binds: nothing, not batch=3"]
    assert user.run("cache", "explain", second, first).stdout == "binds: batch=3, not nothing\n"
    assert user.json("explain", first, first) == []
    assert user.json("explain", first, user.keys("code")[0]) == ["kind: model, not code"]
    assert "no entry's key begins with zz" in user.run("cache", "explain", first, "zz", status=2).stderr
    assert "must not be empty" in user.run("cache", "explain", "", first, status=2).stderr
    beginnings = [entry["key"][0] for entry in user.json("list")]
    for beginning in {letter for letter in beginnings if beginnings.count(letter) > 1}:
        assert "entries begin with" in user.run("cache", "explain", beginning, first, status=2).stderr

    # Features of another machine are listed by name.
    ingredients = next(entry["ingredients"] for entry in user.json("list") if entry["key"] == first)
    machine = json.loads(ingredients["machine"])
    assert machine["features"]["avx2"] is True and machine["processor"], machine

    entry = user.home / ".cache/freestone/model" / first
    data = bytearray(entry.read_bytes())
    data[len(data) // 2] ^= 4
    entry.write_bytes(data)
    verified = user.json("verify", status=1)
    assert [(damaged["kind"], damaged["key"]) for damaged in verified["damaged"]] == [("model", first)], verified
    assert "contents are not as they were written" in verified["damaged"][0]["reason"]
    assert f"model {first}: its contents" in user.run("cache", "verify", status=1).stdout


def check_refusal(user):
    """The refusal of a folder is one complete sentence."""
    folder = user.home / "open"
    folder.mkdir()
    folder.chmod(0o777)
    user.variables["FREESTONE_CACHE_DIR"] = str(folder)
    said = user.run("compile", user.models[0], "-o", user.home / "out.stone").stderr
    assert said.count("the cache can't be used") == 1 and "(chmod go-w makes it safe)\n" in said, said
    assert "can write" in user.run("cache", "list", status=1).stderr
    folder.rmdir()
    folder.write_text("a file")
    assert "Not a directory\n" in user.run("cache", "list", status=1).stderr


def check_wait(user):
    """A process that waits for another reports a wait, not a compilation."""
    folder = user.home / ".cache/freestone"
    user.compile()
    (model,), (code,) = user.keys("model"), user.keys("code")
    for kind, key in (("model", model), ("code", code)):
        # As if another process were at it: it has the lock, and the entry is not there. Who waits for the code has begun to compile
        # the model, which is not there either.
        hidden = user.home / key
        (folder / kind / key).rename(hidden)
        (folder / "model" / model).unlink(missing_ok=True)
        lock = (folder / "lock" / key).open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        waiter = subprocess.Popen([freestone, "compile", user.models[0], "-o", user.home / "out.stone"], env=user.environment(),
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = waiter.stderr.readline()
        assert line.startswith("freestone: waiting for another process that compiles the same, "), line
        hidden.rename(folder / kind / key)
        lock.close()
        _, said = waiter.communicate(timeout=60)
        assert waiter.returncode == 0 and "compiling" not in said, said
        assert (kind == "model") == ("compiled before" in said), said
    assert user.json("stat")["counters"]["waits"] == 2


run_checks(check_places, check_modes, check_size, check_verify_and_explain, check_refusal, check_wait)

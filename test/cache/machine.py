"""The machine as seen by a user of the command: its rates, measured once, and devices given as files.

machine.py FREESTONE
"""

import json

from user import run_checks


def check_machine(user):
    """The rates of this machine: measured by the first compilation, and again on request alone."""
    folder = user.home / ".cache/freestone/machine"
    assert "not measured yet" in user.run("machine").stdout
    assert not folder.exists()
    assert user.json_of("machine")["rates"] == {"levels": []}
    first = user.run("compile", user.models[0], "-o", user.home / "out.stone", "--json").stdout
    assert 0 < json.loads(first)["calibration"] < 3
    assert json.loads(first)["seconds"] == sum(phase["seconds"] for phase in json.loads(first)["phases"])
    bits = (user.home / "out.stone").read_bytes()
    device = user.json_of("machine")
    assert len(device["rates"]["levels"]) == len(device["memory_levels"]) and device["rates"]["multiply_adds"] > 0
    assert str(next(folder.iterdir())) in user.run("machine").stdout
    second = user.run("compile", user.models[1], "-o", user.home / "out.stone", "--json").stdout
    assert "calibration" not in json.loads(second)
    assert user.compile(0) is True

    # Evicting all leaves them, compiling without the cache reads them.
    user.run("cache", "clear")
    assert user.compile(0, "--no-cache") is False and (user.home / "out.stone").read_bytes() == bits
    user.variables["FREESTONE_CACHE"] = "off"
    assert user.json_of("machine") == device
    user.variables["FREESTONE_CACHE"] = "rw"
    assert user.compile(0) is False

    # Other rates are another key; those of other targets are not this machine's.
    user.run("compile", user.models[0], "-o", user.home / "v3.stone", "--target", "x86-64-v3")
    rates = device["rates"]
    while user.json_of("machine", "--calibrate")["rates"] == rates:
        pass
    assert user.compile(0) is False
    assert "before" in user.run("compile", user.models[0], "-o", user.home / "v3.stone", "--target", "x86-64-v3").stderr
    assert "names another" in user.run("machine", "--calibrate", "--target", "x86-64-v3", status=2).stderr

    # A damaged file is measured anew, a folder that can't be made is a warning.
    next(folder.iterdir()).write_text("nonsense")
    assert "not measured yet" in user.run("machine").stdout
    assert user.compile(0) is False
    assert user.json_of("machine")["rates"] != {"levels": []}
    user.variables["FREESTONE_CACHE_DIR"] = "/dev/null/folder"
    warned = user.run("compile", user.models[0], "-o", user.home / "out.stone")
    assert warned.stderr.count("/dev/null/folder") == 1, warned.stderr
    assert "/dev/null/folder" in user.run("machine", "--calibrate", status=1).stderr


def check_devices(user):
    """--device: descriptions as files, of this machine, of another, made up, and of none."""
    def compile_for(device, *options, status=0):
        (user.home / "device.json").write_text(device if isinstance(device, str) else json.dumps(device))
        return user.run("compile", user.models[0], "-o", user.home / "out.stone", "--device",
                        user.home / "device.json", *options, status=status)

    for name in ("x86-64-v4", "x86-64-v4,+amx-bf16", "x86-64-v4,+amx-int8,+avx512vnni", "x86-64-v4,+avx512bf16", "host",
                 "host,-amx-bf16", "x86-64-v3"):
        compile_for(user.json_of("machine", "--target", name), "--strip-weights")
    target = user.json_of("machine", "--target", "x86-64-v3")
    compile_for(target)
    given = (user.home / "out.stone").read_bytes()
    user.run("compile", user.models[0], "-o", user.home / "out.stone", "--target", "x86-64-v3")
    assert (user.home / "out.stone").read_bytes() == given, "a target and its description are the same"
    assert "before" in compile_for(target).stderr
    for change in ({"units": 3}, {"rates": {"levels": [1e12]}}, {"memory_levels": [{"bytes": 16384}]}):
        assert "before" not in compile_for({**target, **change}).stderr, change

    # Every pass sees the device: the panels of the weight, and the tiles.
    half = {**target, "vector_bytes": 16}
    (user.home / "device.json").write_text(json.dumps(half))
    inspect = ("inspect", user.models[0], "--level", "tile")
    narrow = user.run(*inspect, "--device", user.home / "device.json").stdout
    wide = user.run(*inspect, "--target", "x86-64-v3").stdout
    assert "width = 16" in wide and "width = 8" in narrow, (wide, narrow)

    # Sizes that nobody built are no fault.
    for change in ({"memory_levels": [{"bytes": 1}]}, {"memory_levels": [{"bytes": 2**50, "line_bytes": 2**20}] * 5},
                   {"units": 2**20}, {"vector_registers": 8}, {"features": ""}, {"rates": {"levels": [1e-3]}}):
        compile_for({**target, **change})
    for broken, place in (("", "device"), ("{", "device"), ("[]", "device"), ({}, "triple"),
                          ({**target, "units": 0}, "device.units"),
                          ({**target, "memory_levels": [{"bytes": 2**60}]}, "device.memory_levels[0]"), ({**target, "units": "x"}, "device.units"),
                          ({**target, "memory_levels": [{"bytes": 0}]}, "device.memory_levels[0]"),
                          ({**target, "rates": {"levels": [1, 2]}}, "device.rates.levels[0]"),
                          ({**target, "rates": {"multiply_adds": -1}}, "device.rates.multiply_adds"),
                          ({**target, "vector_bytes": 64}, "vector_bytes"), ({**target, "vector_bytes": 33}, "vector_bytes"),
                          ({**target, "vector_registers": 64}, "vector_registers"),
                          ({**target, "pair_unit": "tiles"}, "pair_unit"), ({**target, "quad_unit": "vectors"}, "quad_unit"),
                          ({**target, "rounds_to_bf16": True}, "rounds_to_bf16"),
                          ({**target, "permutes_bytes": True}, "permutes_bytes"), ({**target, "cpu": "dream"}, "cpu"),
                          ({**target, "features": "+dream"}, "features"), ({**target, "features": "dream"}, "features"),
                          ({**target, "features": "+avx512f"}, "instructions"), ({**target, "instructions": []}, "instructions"),
                          ({**target, "instructions": target["instructions"] + ["dream"]}, "instructions"),
                          ({**target, "triple": "dream-unknown-linux-gnu"}, "triple"),
                          ({**target, "triple": "aarch64-unknown-linux-gnu"}, "triple")):
        refused = compile_for(broken, status=2).stderr
        assert refused.startswith(f"freestone: --device {user.home}/device.json: ") and place in refused, (broken, refused)
    assert "/nowhere" in user.run("machine", "--device", "/nowhere", status=1).stderr
    assert "excludes" in compile_for(target, "--target", "host", status=2).stderr


run_checks(check_machine, check_devices)

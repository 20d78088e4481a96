"""Changes a byte of the weight {10, 20, 30, 40}: damage_weight.py IN OUT."""

import struct
import sys

artifact = open(sys.argv[1], "rb").read()
weight = struct.pack("<4f", 10, 20, 30, 40)
assert artifact.count(weight) == 1
open(sys.argv[2], "wb").write(artifact.replace(weight, struct.pack("<4f", 10, 20, 30, 41)))

"""Writes the plain weight of the program `reverse` as a deflated .npz: plain_weights.py FILE."""

import struct
import sys
import zipfile

header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }\n".encode()
npy = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<4f", 1, 2, 3, 4)
with zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as archive:
    archive.writestr("plain.npy", npy)

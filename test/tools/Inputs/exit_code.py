"""exit_code.py EXPECTED COMMAND…: succeeds if the command ends with exactly this exit code."""

import subprocess
import sys

actual = subprocess.run(sys.argv[2:], check=False).returncode
sys.exit(0 if actual == int(sys.argv[1]) else f"exit code {actual} instead of {sys.argv[1]}")

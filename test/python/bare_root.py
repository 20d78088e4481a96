"""The wheels run where there is nothing but Debian's base and its Python: bare_root.py SITE_PACKAGES README FOLDER.

Copies the files of Debian's essential packages, of python3 and of what both depend on from this machine into FOLDER,
with what is installed in SITE_PACKAGES, and runs the README's lines there. Needs root, for chroot; else returns 77.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import onnx

from graphs import classifier

SKIPPED = 77


def packages():
    """The names of the base, of python3, and of what they depend on."""
    listed = subprocess.run(["dpkg-query", "--show", "--showformat",
                             "${binary:Package}|${Essential}|${Provides}|${Pre-Depends},${Depends}\n"],
                            capture_output=True, text=True, check=True).stdout
    needs, provides, wanted = {}, {}, ["python3", "libstdc++6"]
    for line in listed.splitlines():
        name, essential, provided, depends = line.split("|", 3)
        name = name.partition(":")[0]
        needs[name] = [re.split(r"[ (:]", part.strip())[0] for part in re.split(r"[,|]", depends) if part.strip()]
        for other in provided.split(","):
            provides[other.strip().partition(" ")[0]] = name
        if essential == "yes":
            wanted.append(name)
    found = set()
    while wanted:
        name = wanted.pop()
        name = name if name in needs else provides.get(name)
        if name and name not in found:
            found.add(name)
            wanted += needs[name]
    return sorted(found)


def make_root(root):
    for name in ("bin", "lib", "lib64", "sbin"):
        (root / "usr" / name).mkdir(parents=True, exist_ok=True)
        (root / name).symlink_to(f"usr/{name}")
    for name in ("dev", "home", "proc", "tmp"):
        (root / name).mkdir()
    files = subprocess.run(["dpkg-query", "--listfiles", *packages()], capture_output=True, text=True,
                           check=True).stdout
    paths = sorted({path for path in files.splitlines() if path.startswith("/") and os.path.lexists(path)
                    and not path.startswith(("/usr/share/doc", "/usr/share/locale", "/usr/share/man", "/var"))
                    and not (os.path.isdir(path) and not os.path.islink(path))})
    packed = subprocess.Popen(["tar", "--create", "--directory=/", "--no-recursion", "--files-from=-", "--file=-"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    unpacking = subprocess.Popen(["tar", "--extract", "--keep-directory-symlink", "--directory", root],
                                 stdin=packed.stdout)
    packed.stdin.write("\n".join(path.lstrip("/") for path in paths).encode())
    packed.stdin.close()
    assert unpacking.wait() == 0
    return len(paths)


def main():
    site, readme, root = map(pathlib.Path, sys.argv[1:])
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        print("not as root, or in a container without mounts of its own: nothing was tried in a bare root")
        return SKIPPED
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    count = make_root(root)
    for name in ("freestone", "numpy"):
        for folder in site.glob(f"{name}*"):
            shutil.copytree(folder, root / "site" / folder.name)
    onnx.save(classifier(784, 10), root / "home" / "mlp.onnx")
    lines = "\n".join(re.findall(r"```python\n(.*?)```", readme.read_text(), re.S))
    (root / "home" / "lines.py").write_text(lines)
    script = f"""
      mount --bind /dev {root}/dev && mount --bind /proc {root}/proc &&
      chroot {root} /usr/bin/env -i PATH=/usr/bin:/bin HOME=/home PYTHONPATH=/site sh -ec '
        cd /home && python3 lines.py && python3 -m freestone.command run mlp.stone --input x=8x784xf32=0.5'"""
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True)
    assert done.returncode == 0 and "logits" in done.stdout, (done.stdout, done.stderr)
    print(f"the README's lines run in a root of {count} files of Debian's base and Python")
    shutil.rmtree(root)
    return 0


if __name__ == "__main__":
    sys.exit(main())

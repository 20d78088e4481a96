# Sourced by the scripts: one way to say what happens, and one sentence when it can't go on.
script=$(basename "$0")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
started=$SECONDS

say() { printf '%s: %s\n' "$script" "$*"; }

fail() {
  printf '%s: %s\n' "$script" "$*" >&2
  exit 1
}

# build_folder PRESET: where the presets of CMakePresets.json build.
build_folder() {
  if [ "$1" = release ]; then echo "$root/build"; else echo "$root/build-$1"; fi
}

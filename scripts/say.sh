# Sourced by the scripts: uniform progress messages, and one sentence on failure.
script=$(basename "$0")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
started=$SECONDS

say() { printf '%s: %s\n' "$script" "$*"; }

fail() {
  printf '%s: %s\n' "$script" "$*" >&2
  exit 1
}

# build_folder PRESET: the build folder of a preset of CMakePresets.json.
build_folder() {
  if [ "$1" = release ]; then echo "$root/build"; else echo "$root/build-$1"; fi
}

# Sourced by the examples' run: `show COMMAND…` prints a command as one would type it, and runs it. Where the first word given to
# run is --show, commands are printed alone.
only_show=
if [ "${1-}" = --show ]; then
  only_show=1
  shift
fi

show() {
  printf '\n$ %s\n' "$(printf '%q ' "$@")" >&2
  [ -n "$only_show" ] || "$@"
}

# Sourced by the examples' `run`: `show COMMAND…` prints a command as a user would type it, and runs it. If the first
# argument of `run` is --show, commands are only printed.
only_show=
if [ "${1-}" = --show ]; then
  only_show=1
  shift
fi

show() {
  printf '\n$ %s\n' "$(printf '%q ' "$@")" >&2
  [ -n "$only_show" ] || "$@"
}

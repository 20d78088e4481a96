// Prints as which lesser machines this one can be seen by FREESTONE_HOST, one a line: the levels of its architecture. Of
// those that it can't be seen as, stderr says why. With --machine: what it is itself, "x86-64-v4,+amx-bf16,+avx512bf16".
#include "runtime/machine/Processor.h"

#include <cstdio>
#include <cstdlib>

using namespace freestone::runtime;

/// Whether it can be seen as this target; `why` not.
static bool canBe(const std::string &target, std::string &why) {
  setenv(hostVariable, target.c_str(), 1);
  Result<Processor> seen = Processor::here();
  why = seen.status().message();
  return seen.ok();
}

static std::string describeMachine() {
  std::string greatest, why;
  for (std::string_view level : architecture::levels())
    if (canBe(std::string(level), why))
      greatest = level;
  for (const architecture::Change &change : architecture::changes())
    if (std::string more = greatest + ",+" + std::string(change.name); canBe(more, why))
      greatest = more;
  return greatest;
}

int main(int count, char **) {
  std::string machine = describeMachine();
  if (count > 1) {
    std::printf("%s\n", machine.c_str());
    return 0;
  }
  for (std::string_view level : architecture::levels()) {
    if (level == machine)
      continue;
    std::string why;
    if (canBe(std::string(level), why))
      std::printf("%s\n", std::string(level).c_str());
    else
      std::fprintf(stderr, "%s\n", why.c_str());
  }
}

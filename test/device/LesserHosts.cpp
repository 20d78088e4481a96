// Prints the lesser machines that FREESTONE_HOST can make this one appear as, one a line: levels of its architecture.
// For the others, stderr has the reasons. With --machine: this machine itself,
// "x86-64-v4,+amx-bf16,+amx-int8,+avx512bf16,+avx512vnni".
#include "runtime/machine/Processor.h"

#include <cstdio>
#include <cstdlib>

using namespace freestone::runtime;

/// Whether this machine can appear as the target; otherwise `why` has the reason.
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

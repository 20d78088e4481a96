// Prints as which machines this one can be seen by FREESTONE_HOST, one a line: the levels of its architecture. Of those
// that it can't be seen as, stderr says why. Usage: lesser-hosts.
#include "runtime/machine/Processor.h"

#include <cstdio>
#include <cstdlib>

using namespace freestone::runtime;

int main() {
  for (std::string_view level : architecture::levels()) {
    setenv(hostVariable, std::string(level).c_str(), 1);
    if (Result<Processor> seen = Processor::here(); seen.ok())
      std::printf("%s\n", seen->seenAs.c_str());
    else
      std::fprintf(stderr, "%s\n", seen.status().message().c_str());
  }
}

// Writes the corpus of the artifact's fuzzer: the tests' own artifacts and descriptors, in the current format. With
// `--check` it only reports differences, since inputs of another version are refused at once.
#include "test/runtime/Programs.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

using namespace freestone;
using namespace freestone::runtime;

namespace {

using Bytes = std::vector<uint8_t>;

Bytes inputOf(char kind, const Bytes &bytes) {
  Bytes input(1, static_cast<uint8_t>(kind));
  input.insert(input.end(), bytes.begin(), bytes.end());
  return input;
}

/// A whole artifact. Its code is verified but never run, so it may be any bytes.
Bytes artifactOf(const Descriptor &descriptor, bool withWeights) {
  static const float values[4] = {1, 2, 3, 4};
  std::vector<const void *> weights(descriptor.weights.size(), withWeights ? values : nullptr);
  const char code[] = "not executed";
  return *packArtifact({reinterpret_cast<const uint8_t *>(code), sizeof(code) - 1}, descriptor, weights);
}

std::map<std::string, Bytes> inputs() {
  // A descriptor of three phases covers as much as one of ten thousand.
  Descriptor phases = test::describePhases();
  phases.entries[0].phases.resize(3);
  return {
      {"artifact", inputOf('a', artifactOf(test::describeReverse(), true))},
      {"artifact-repaired", inputOf('f', artifactOf(test::describeReverse(), true))},
      {"artifact-stripped", inputOf('f', artifactOf(test::describeReverse(), false))},
      {"artifact-train", inputOf('f', artifactOf(test::describeTrain(), true))},
      {"descriptor-lookup", inputOf('d', encode(test::describeLookup()))},
      {"descriptor-nonzero", inputOf('d', encode(test::describeNonzero()))},
      {"descriptor-phases", inputOf('d', encode(phases))},
      {"descriptor-reverse", inputOf('d', encode(test::describeReverse()))},
      {"descriptor-train", inputOf('d', encode(test::describeTrain()))},
  };
}

} // namespace

int main(int argc, char **argv) {
  bool isCheck = argc == 3 && std::strcmp(argv[1], "--check") == 0;
  if (argc != 2 && !isCheck) {
    std::fprintf(stderr, "usage: artifact-corpus [--check] FOLDER\n");
    return 2;
  }
  std::string folder = argv[argc - 1];
  bool isCurrent = true;
  for (const auto &[name, bytes] : inputs()) {
    std::string path = folder + "/" + name;
    if (!isCheck) {
      std::ofstream file(path, std::ios::binary);
      file.write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
      isCurrent &= file.good();
      continue;
    }
    std::ifstream file(path, std::ios::binary);
    if (Bytes(std::istreambuf_iterator<char>(file), {}) == bytes)
      continue;
    std::fprintf(stderr, "%s is not in today's format; `artifact-corpus %s` writes it anew\n", path.c_str(),
                 folder.c_str());
    isCurrent = false;
  }
  return isCurrent ? 0 : 1;
}

#include "test/task/RandomProgram.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

using namespace freestone::test;

namespace {

class Generator {
public:
  Generator(std::mt19937_64 &random, KnownAccesses known) : random(random), known(known) {}

  std::string generate();

private:
  struct Buffer {
    std::string name, size;
    /// Elements written by one tile.
    std::string chunk = "4";
    bool isRead = true;
    bool isState = false;
  };

  size_t below(size_t bound) { return random() % bound; }
  static std::string typeOf(const Buffer &buffer) { return "!graph.tensor<[" + buffer.size + "], f32>"; }

  void declare(const std::string &kind, const Buffer &buffer) {
    declarations += "  %" + buffer.name + " = task.buffer " + kind + " : " + typeOf(buffer) + "\n";
  }
  /// Some tiles share blocks with their neighbours.
  std::string elements(const std::string &tileElements, bool sameSize) {
    bool isKnown = known == KnownAccesses::some && sameSize && below(3) != 0;
    std::string sharing = std::to_string(2 + below(3));
    return !isKnown ? "?" : below(3) ? tileElements : sharing + "*" + tileElements + " per " + sharing;
  }
  void addSpace(size_t readable, bool readsUnread);
  Buffer *chooseState();

  std::mt19937_64 &random;
  KnownAccesses known;
  std::vector<Buffer> buffers;
  std::string declarations, phases;
  int outputs = 0;
  /// Of the current phase, whose spaces run in no order.
  std::set<std::string> readHere, writtenHere;
};

/// A comma after every part but the last.
std::string join(const std::vector<std::string> &parts) {
  std::string text;
  for (const std::string &part : parts)
    text += (text.empty() ? "" : ", ") + part;
  return text;
}

/// A state that no space of the phase has accessed, or null.
Generator::Buffer *Generator::chooseState() {
  Buffer &state = buffers[below(buffers.size())];
  return state.isState && !readHere.contains(state.name) && !writtenHere.contains(state.name) ? &state : nullptr;
}

void Generator::addSpace(size_t readable, bool readsUnread) {
  static const char *const sizes[] = {"n", "2*n", "m", "40"};
  static const char *const chunks[] = {"1", "3", "4", "8"};
  std::string size = sizes[below(4)], chunk = chunks[below(4)];
  // Often as many tiles as the last writer, so that workers keep their own data.
  if (below(2))
    std::tie(size, chunk) = std::tie(buffers[readable - 1].size, buffers[readable - 1].chunk);

  std::vector<std::string> inputs, reads, inputTypes;
  auto read = [&](Buffer &buffer) {
    if (writtenHere.contains(buffer.name))
      return;
    readHere.insert(buffer.name);
    buffer.isRead = true;
    inputs.push_back("%" + buffer.name);
    reads.push_back(elements(chunk, buffer.size == size));
    inputTypes.push_back(typeOf(buffer));
  };
  if (readsUnread) {
    for (size_t i = 0; i < readable; ++i)
      if (!buffers[i].isRead)
        read(buffers[i]);
  } else {
    // Recent buffers more often, so that chains become long.
    for (size_t count = 1 + below(3); count > 0; --count)
      read(buffers[below(2) ? readable - 1 - below(std::min<size_t>(readable, 3)) : below(readable)]);
  }
  if (inputs.empty())
    read(buffers.front());

  std::vector<std::string> results, writes, resultTypes;
  if (Buffer *state = chooseState()) {
    writtenHere.insert(state->name);
    results.push_back("%" + state->name);
    resultTypes.push_back(typeOf(*state));
    writes.push_back(elements(chunk, state->size == size));
    // In place: a tile reads the elements that it writes.
    if (writes.back() == chunk && below(2)) {
      inputs.push_back("%" + state->name);
      reads.push_back(writes.back());
      inputTypes.push_back(typeOf(*state));
    }
    state->chunk = chunk;
  }
  for (size_t count = 1 + below(2); count > 0; --count) {
    Buffer buffer{"b" + std::to_string(buffers.size()), below(3) ? size : sizes[below(3)], chunk, false};
    bool isOutput = readsUnread || below(5) == 0;
    buffer.isRead = isOutput;
    declare(isOutput ? "output \"out" + std::to_string(outputs++) + "\"" : "arena", buffer);
    results.push_back("%" + buffer.name);
    writes.push_back(elements(chunk, buffer.size == size));
    resultTypes.push_back(typeOf(buffer));
    buffers.push_back(buffer);
  }
  // Some take far longer than others, so that workers with tiles of one phase alone are awaited.
  std::string time = below(2) ? " time " + std::to_string(1 << below(20)) : "";
  phases += "    task.space @p(" + join(inputs) + ") to (" + join(results) + ") sizes [n] tiles (" + size +
            ") ceildiv " + chunk + time + " scratch 0 reads [" + join(reads) + "] writes [" + join(writes) + "] sites [] : (" +
            join(inputTypes) + ") -> (" + join(resultTypes) + ")\n";
}

std::string Generator::generate() {
  buffers = {{"x", "n"}, {"z", "m"}, {"w", "n"}};
  declare("input \"x\"", buffers[0]);
  declare("input \"z\"", buffers[1]);
  declare("weight \"w\"", buffers[2]);
  for (std::string name : {"s", "t"}) {
    buffers.push_back({name, "40", "4", /*isRead=*/true, /*isState=*/true});
    declare("state \"" + name + "\"", buffers.back());
  }
  size_t count = 2 + below(11);
  for (size_t phase = 0; phase < count; ++phase) {
    bool isLast = phase + 1 == count;
    phases += "  task.phase \"" + std::to_string(phase) + "\" after all [] same [] {\n";
    size_t readable = buffers.size();
    readHere.clear();
    writtenHere.clear();
    addSpace(readable, isLast);
    if (!isLast && below(4) == 0)
      addSpace(readable, false);
    phases += "  }\n";
  }
  return "task.program @main symbols [#task.symbol<\"n\" dim 0, 0 in [0, 1000]>, #task.symbol<\"m\" dim 1, 0 in [0, "
         "1000]>] {\n" +
         declarations + phases + "}\n";
}

} // namespace

std::string freestone::test::makeRandomProgram(std::mt19937_64 &random, KnownAccesses accesses) {
  return Generator(random, accesses).generate();
}

#include "test/task/RandomLoops.h"

#include <vector>

using namespace freestone::test;

namespace {

class LoopGenerator {
public:
  explicit LoopGenerator(std::mt19937_64 &random) : random(random) {}

  std::string generate();

private:
  using Names = std::vector<std::string>;

  size_t below(size_t bound) { return random() % bound; }
  std::string name(const std::string &kind) { return "%" + kind + std::to_string(names++); }
  void declare(const std::string &what) { declarations += "  " + what + "\n"; }
  std::string makeCondition();
  std::string makeBuffer(bool isOutput);
  std::string makeSlice(const std::string &source, int64_t loop, const std::string &rest = "");
  void addPhase(const Names &readable, const std::string &to, const std::string &type = "!v");
  void addItem(Names &readable, int depth);
  void addBlock(Names readable, int depth, const Names &targets);
  void addLoop(Names &readable, int depth);
  void addBranch(Names &readable, int depth);

  std::mt19937_64 &random;
  std::string declarations, text;
  int names = 0, loops = 0;
};

} // namespace

std::string LoopGenerator::makeCondition() {
  std::string condition = name("c");
  declare(condition + " = task.buffer " + (below(2) ? "arena" : "input \"" + condition.substr(1) + "\"") + " : !c");
  return condition;
}

std::string LoopGenerator::makeBuffer(bool isOutput) {
  std::string buffer = name("b");
  declare(buffer + " = task.buffer " + (isOutput ? "output \"" + buffer.substr(1) + "\"" : "arena") + " : !v");
  return buffer;
}

std::string LoopGenerator::makeSlice(const std::string &source, int64_t loop, const std::string &rest) {
  std::string slice = name("v"), type = rest.empty() ? "!graph.tensor<[50, n], f32>" : "!graph.tensor<[2, n], f32>";
  declare(slice + " = task.view " + source + " loop " + std::to_string(loop) + rest + " step 4*n : " + type + " -> !v");
  return slice;
}

/// Writes `to` from some of what can be read, the latest more often.
void LoopGenerator::addPhase(const Names &readable, const std::string &to, const std::string &type) {
  std::string chunk = std::to_string(1 + below(5));
  auto elements = [&] {
    std::string sharing = std::to_string(2 + below(2));
    return below(3) ? chunk : sharing + "*" + chunk + " per " + sharing;
  };
  std::string inputs, reads, types;
  for (size_t count = 1 + below(2); count > 0; --count) {
    size_t recent = std::min<size_t>(readable.size(), 3);
    size_t index = below(2) ? readable.size() - 1 - below(recent) : below(readable.size());
    std::string comma = inputs.empty() ? "" : ", ";
    inputs += comma + readable[index];
    reads += comma + (below(3) ? elements() : "?");
    types += comma + "!v";
  }
  std::string written = type == "!c" ? "?" : type == "!v" && below(4) == 0 ? "?" : elements();
  std::string tiles = type == "!c" ? "1" : "n ceildiv " + chunk;
  std::string time = below(3) ? "" : " time " + std::to_string(1 << below(20));
  text += "task.phase \"" + std::to_string(names++) + "\" after all [] same [] {\n  task.space @p(" + inputs +
          ") to (" + to + ") sizes [n] tiles " + tiles + time + " scratch 0 reads [" + reads + "] writes [" + written +
          "] sites [] : (" + types + ") -> " + type + "\n}\n";
}

void LoopGenerator::addItem(Names &readable, int depth) {
  size_t kind = depth < 3 ? below(5) : 4;
  if (kind == 0)
    return addLoop(readable, depth);
  if (kind == 1)
    return addBranch(readable, depth);
  std::string to = makeBuffer(depth == 0 && below(3) == 0);
  addPhase(readable, to);
  readable.push_back(to);
}

/// Ends with a phase for each target.
void LoopGenerator::addBlock(Names readable, int depth, const Names &targets) {
  for (size_t count = below(3); count > 0; --count)
    addItem(readable, depth);
  for (const std::string &target : targets)
    addPhase(readable, target);
}

void LoopGenerator::addLoop(Names &readable, int depth) {
  int64_t loop = loops++;
  Names within = readable, targets, carried;
  for (size_t count = 1 + below(2); count > 0; --count) {
    std::string buffer = name("s");
    declare(buffer + " = task.buffer arena : !graph.tensor<[2, n], f32>");
    addPhase(readable, buffer, "!graph.tensor<[2, n], f32>");
    carried.push_back(makeSlice(buffer, loop, " rotate 2"));
    targets.push_back(makeSlice(buffer, loop, " shift 1 rotate 2"));
    within.push_back(carried.back());
  }
  for (const char *kind : {"input", "output"}) {
    if (below(2))
      continue;
    std::string buffer = name("t");
    declare(buffer + " = task.buffer " + kind + " \"" + buffer.substr(1) + "\" : !graph.tensor<[50, n], f32>");
    (kind[0] == 'i' ? within : targets).push_back(makeSlice(buffer, loop));
  }
  std::string condition, trips = below(3) ? std::to_string(below(5)) : "k";
  if (below(4) == 0) {
    condition = makeCondition();
    if (declarations.find(condition + " = task.buffer arena") != std::string::npos)
      addPhase(readable, condition, "!c");
  }
  text += "task.loop " + std::to_string(loop) + " \"l" + std::to_string(loop) + "\" trips " + trips +
          (condition.empty() ? "" : " while " + condition + " : !c") + " {\n";
  addBlock(within, depth + 1, targets);
  text += "}\n";
  readable.insert(readable.end(), carried.begin(), carried.end());
}

void LoopGenerator::addBranch(Names &readable, int depth) {
  std::string condition = makeCondition(), result = makeBuffer(depth == 0 && below(4) == 0);
  if (declarations.find(condition + " = task.buffer arena") != std::string::npos)
    addPhase(readable, condition, "!c");
  text += "task.branch \"" + std::to_string(names++) + "\" if " + condition + " after all [] : !c {\n";
  addBlock(readable, depth + 1, {result});
  text += "} else {\n";
  addBlock(readable, depth + 1, {result});
  text += "}\n";
  readable.push_back(result);
}

std::string LoopGenerator::generate() {
  Names readable = {"%x", "%w"};
  declare("%x = task.buffer input \"x\" : !v");
  declare("%w = task.buffer weight \"w\" : !v");
  addItem(readable, 0);
  addLoop(readable, 0);
  for (size_t count = 1 + below(2); count > 0; --count)
    addItem(readable, 0);
  addPhase(readable, makeBuffer(/*isOutput=*/true));
  return "!v = !graph.tensor<[n], f32>\n!c = !graph.tensor<[], i1>\ntask.program @main symbols [#task.symbol<\"n\" dim "
         "0, "
         "0 in [0, 1000]>] {\n" +
         declarations + text + "}\n";
}

std::string freestone::test::makeRandomLoops(std::mt19937_64 &random) { return LoopGenerator(random).generate(); }

#include "compiler/grad/RematerialiseCut.h"

#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace freestone;
using namespace freestone::grad;

/// Larger than the sum of all bytes; four of them fit into 64 bits.
static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max() / 4;

unsigned KeepProblem::addNode() {
  outgoing.emplace_back();
  return outgoing.size() - 1;
}

void KeepProblem::connect(unsigned from, unsigned to, int64_t capacity) {
  outgoing[from].push_back(edges.size());
  edges.push_back({to, capacity});
  outgoing[to].push_back(edges.size());
  edges.push_back({from, 0});
}

unsigned KeepProblem::add(int64_t bytes) {
  unsigned begin = addNode(), end = addNode();
  connect(begin, end, std::min(bytes, unlimited / 1024));
  return (begin - before(0)) / 2;
}

void KeepProblem::needs(unsigned value, unsigned operand) { connect(after(operand), before(value), unlimited); }
void KeepProblem::takes(unsigned value, int64_t bytes) {
  connect(source, before(value), std::min(bytes, unlimited / 1024));
}
void KeepProblem::forbid(unsigned value) { connect(source, before(value), unlimited); }
void KeepProblem::require(unsigned value) { connect(after(value), sink, unlimited); }

namespace {

/// Dinic's algorithm on residual capacities.
template <typename Edges, typename Outgoing> class MaximumFlow {
public:
  MaximumFlow(Edges &edges, const Outgoing &outgoing) : edges(edges), outgoing(outgoing) {}

  void run(unsigned source, unsigned sink) {
    while (findLevels(source, sink)) {
      next.assign(outgoing.size(), 0);
      while (push(source, sink))
        ;
    }
  }

private:
  bool findLevels(unsigned source, unsigned sink) {
    levels.assign(outgoing.size(), -1);
    levels[source] = 0;
    llvm::SmallVector<unsigned> queue = {source};
    for (size_t at = 0; at < queue.size(); ++at)
      for (unsigned edge : outgoing[queue[at]])
        if (edges[edge].capacity > 0 && levels[edges[edge].to] < 0) {
          levels[edges[edge].to] = levels[queue[at]] + 1;
          queue.push_back(edges[edge].to);
        }
    return levels[sink] >= 0;
  }

  /// Finds one more path, without recursion: chains of operators are long.
  bool push(unsigned source, unsigned sink) {
    llvm::SmallVector<unsigned> path;
    unsigned at = source;
    while (at != sink) {
      const auto &choices = outgoing[at];
      while (next[at] < choices.size() &&
             !(edges[choices[next[at]]].capacity > 0 && levels[edges[choices[next[at]]].to] == levels[at] + 1))
        ++next[at];
      if (next[at] < choices.size()) {
        path.push_back(choices[next[at]]);
        at = edges[path.back()].to;
        continue;
      }
      if (path.empty())
        return false;
      at = edges[path.pop_back_val() ^ 1].to;
      ++next[at];
    }
    int64_t least = unlimited;
    for (unsigned edge : path)
      least = std::min(least, edges[edge].capacity);
    for (unsigned edge : path) {
      edges[edge].capacity -= least;
      edges[edge ^ 1].capacity += least;
    }
    return true;
  }

  Edges &edges;
  const Outgoing &outgoing;
  llvm::SmallVector<int, 0> levels;
  llvm::SmallVector<unsigned, 0> next;
};

} // namespace

llvm::BitVector KeepProblem::solve() const {
  auto residual = edges;
  MaximumFlow(residual, outgoing).run(source, sink);

  // From the sink backwards: the minimum cut nearest to the users.
  llvm::BitVector reaches(outgoing.size());
  reaches.set(sink);
  llvm::SmallVector<unsigned> queue = {sink};
  for (size_t at = 0; at < queue.size(); ++at)
    for (unsigned edge : outgoing[queue[at]])
      if (unsigned from = edges[edge].to; residual[edge ^ 1].capacity > 0 && !reaches.test(from)) {
        reaches.set(from);
        queue.push_back(from);
      }
  llvm::BitVector kept((outgoing.size() - 2) / 2);
  for (unsigned value = 0; value < kept.size(); ++value)
    kept[value] = reaches.test(after(value)) && !reaches.test(before(value));
  return kept;
}

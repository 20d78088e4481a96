#include "compiler/tile/ContractionVariants.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace freestone;
using namespace freestone::tile;
using llvm::ArrayRef;
using llvm::SmallVector;

/// A further tiling pays if it makes a problem of its class faster by this factor: about the error of the model.
static constexpr double leastGain = 1.08;

using Extent = int64_t ContractionProblem::*;
static constexpr Extent extents[] = {&ContractionProblem::m, &ContractionProblem::n, &ContractionProblem::k,
                                     &ContractionProblem::outer};

namespace {

/// Problems, and the candidate that suits them best.
struct Class {
  SmallVector<size_t> problems;
  const ContractionCandidate *best = nullptr;

  Class(SmallVector<size_t> members, ArrayRef<ContractionCandidate> candidates) : problems(std::move(members)) {
    best = llvm::min_element(candidates, [&](const ContractionCandidate &lhs, const ContractionCandidate &rhs) {
      return lhs.getCost(problems) < rhs.getCost(problems);
    });
  }

  double getSum(const ContractionCandidate &candidate) const {
    return candidate.getCost(problems) * double(problems.size());
  }
  /// Whether its best candidate is that much faster than another one.
  bool pays(const ContractionCandidate &other) const {
    return llvm::any_of(
        problems, [&](size_t problem) { return other.costs[problem] - best->costs[problem] >= std::log(leastGain); });
  }
};

/// Two classes of problems: an extent is at most a number, or more.
struct Split {
  Extent extent;
  /// The largest value in the lower class, and the least in the upper one.
  int64_t most, next;
  Class lower, upper;

  double getSum() const { return lower.getSum(*lower.best) + upper.getSum(*upper.best); }
};

} // namespace

/// The split with the least cost; none if there is but one problem.
static std::optional<Split> findSplit(const Class &whole, ArrayRef<ContractionProblem> problems,
                                      ArrayRef<ContractionCandidate> candidates) {
  std::optional<Split> best;
  for (Extent extent : extents) {
    SmallVector<int64_t> values =
        llvm::map_to_vector(whole.problems, [&](size_t number) { return problems[number].*extent; });
    llvm::sort(values);
    values.erase(llvm::unique(values), values.end());
    for (auto [most, next] : llvm::zip(values, llvm::drop_begin(values))) {
      SmallVector<size_t> lower, upper;
      for (size_t number : whole.problems)
        (problems[number].*extent <= most ? lower : upper).push_back(number);
      Split split{extent, most, next, Class(lower, candidates), Class(upper, candidates)};
      if (!best || split.getSum() < best->getSum())
        best = std::move(split);
    }
  }
  return best;
}

/// The largest value of the extent, between the classes, up to which problems of the lower class are faster by its own
/// candidate.
static int64_t findEnd(const Split &split, ArrayRef<ContractionProblem> problems, const DeviceRates &rates) {
  auto isLower = [&](int64_t value) {
    double difference = 0;
    for (size_t number : split.lower.problems) {
      ContractionProblem problem = problems[number];
      problem.*split.extent = value;
      auto getCost = [&](const Class &of) {
        return std::log(estimateContraction(problem, of.best->shares, rates, 1).getTotal());
      };
      difference += getCost(split.lower) - getCost(split.upper);
    }
    return difference < 0;
  };
  int64_t most = split.most;
  for (int64_t next = 2 * most; next < split.next && isLower(next); next *= 2)
    most = next;
  return most;
}

ContractionVariants tile::chooseVariants(ArrayRef<ContractionProblem> problems,
                                         ArrayRef<ContractionCandidate> candidates, const DeviceRates &rates,
                                         size_t most) {
  ContractionVariants chosen;
  Class rest(llvm::to_vector(llvm::seq(problems.size())), candidates);
  while (chosen.variants.size() + 1 < most) {
    std::optional<Split> split = findSplit(rest, problems, candidates);
    if (!split || !(split->lower.pays(*rest.best) || split->upper.pays(*rest.best)))
      break;
    chosen.variants.push_back({split->extent, findEnd(*split, problems, rates), split->lower.best->shares});
    rest = std::move(split->upper);
  }
  chosen.otherwise = rest.best->shares;
  return chosen;
}

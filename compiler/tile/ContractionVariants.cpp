#include "compiler/tile/ContractionVariants.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <set>

using namespace freestone;
using namespace freestone::tile;
using llvm::ArrayRef;
using llvm::SmallVector;

/// A further tiling pays if it makes a problem of its class faster by this factor: about the error of the model.
static constexpr double leastGain = 1.08;

static constexpr ContractionExtent extents[] = {ContractionExtent::rows, ContractionExtent::columns,
                                                ContractionExtent::depth, ContractionExtent::outer,
                                                ContractionExtent::narrower};

using Candidates = SmallVector<const ContractionCandidate *>;

namespace {

/// Problems, and the candidate that suits them best.
struct Class {
  SmallVector<size_t> problems;
  const ContractionCandidate *best = nullptr;
  /// The sum of its costs.
  double sum = 0;

  Class(SmallVector<size_t> members, const Candidates &candidates) : problems(std::move(members)) {
    for (const ContractionCandidate *candidate : candidates) {
      double sumOfThis = candidate->getCost(problems) * double(problems.size());
      if (!best || sumOfThis < sum) {
        best = candidate;
        sum = sumOfThis;
      }
    }
  }

  /// Whether its best candidate is that much faster than another one.
  bool pays(const ContractionCandidate &other) const {
    return llvm::any_of(
        problems, [&](size_t problem) { return other.costs[problem] - best->costs[problem] >= std::log(leastGain); });
  }
};

/// A class of problems in which an extent is at most a number. `next` is the least value of those in no class yet.
struct Lower {
  ContractionExtent extent;
  int64_t most, next;
  Class members;
};

/// Classes in the order in which their conditions are looked at, and all other problems.
struct Partition {
  SmallVector<Lower> lower;
  Class rest;
  double sum;
};

} // namespace

/// The member of a problem that an extent is.
static int64_t ContractionProblem::*getMember(const ContractionProblem &problem, ContractionExtent extent) {
  switch (extent) {
  case ContractionExtent::outer:
    return &ContractionProblem::outer;
  case ContractionExtent::rows:
    return &ContractionProblem::m;
  case ContractionExtent::columns:
    return &ContractionProblem::n;
  case ContractionExtent::depth:
    return &ContractionProblem::k;
  case ContractionExtent::narrower:
    return problem.m < problem.n ? &ContractionProblem::m : &ContractionProblem::n;
  }
  llvm_unreachable("an extent is a member of a problem");
}

int64_t tile::getExtent(const ContractionProblem &problem, ContractionExtent extent) {
  return problem.*getMember(problem, extent);
}

/// The candidates that differ in their costs.
static Candidates getDifferent(ArrayRef<ContractionCandidate> candidates) {
  auto isLess = [](const ContractionCandidate *lhs, const ContractionCandidate *rhs) {
    return lhs->costs < rhs->costs;
  };
  std::set<const ContractionCandidate *, decltype(isLess)> known(isLess);
  Candidates different;
  for (const ContractionCandidate &candidate : candidates)
    if (known.insert(&candidate).second)
      different.push_back(&candidate);
  return different;
}

/// The partition with the least cost into `most` classes, each of which pays.
static Partition partition(Class whole, ArrayRef<ContractionProblem> problems, const Candidates &candidates,
                           size_t most) {
  Partition best{{}, whole, whole.sum};
  if (most < 2)
    return best;
  for (ContractionExtent extent : extents) {
    SmallVector<int64_t> values =
        llvm::map_to_vector(whole.problems, [&](size_t number) { return getExtent(problems[number], extent); });
    llvm::sort(values);
    values.erase(llvm::unique(values), values.end());
    for (auto [last, next] : llvm::zip(values, llvm::drop_begin(values))) {
      SmallVector<size_t> lower, upper;
      for (size_t number : whole.problems)
        (getExtent(problems[number], extent) <= last ? lower : upper).push_back(number);
      Class first(lower, candidates), others(upper, candidates);
      if (!first.pays(*whole.best) && !others.pays(*whole.best))
        continue;
      Partition split = partition(std::move(others), problems, candidates, most - 1);
      split.sum += first.sum;
      if (split.sum < best.sum) {
        split.lower.insert(split.lower.begin(), Lower{extent, last, next, std::move(first)});
        best = std::move(split);
      }
    }
  }
  return best;
}

/// The largest value of the extent, below the next class, up to which problems are faster by the candidate of a class
/// than by those of later ones.
static int64_t findEnd(size_t number, const Partition &partition, ArrayRef<ContractionProblem> problems,
                       const DeviceRates &rates) {
  const Lower &lower = partition.lower[number];
  auto getCost = [&](const ContractionCandidate &candidate, const ContractionProblem &problem) {
    return std::log(candidate.choice.estimate(problem, rates, 1).getTotal());
  };
  auto isFaster = [&](int64_t value) {
    double difference = 0;
    for (size_t member : lower.members.problems) {
      ContractionProblem problem = problems[member];
      problem.*getMember(problem, lower.extent) = value;
      const ContractionCandidate *later = partition.rest.best;
      for (const Lower &other : llvm::reverse(ArrayRef(partition.lower).drop_front(number + 1)))
        if (getExtent(problem, other.extent) <= other.most)
          later = other.members.best;
      difference += getCost(*lower.members.best, problem) - getCost(*later, problem);
    }
    return difference < 0;
  };
  int64_t most = lower.most;
  for (int64_t next = 2 * most; next < lower.next && isFaster(next); next *= 2)
    most = next;
  return most;
}

ContractionVariants tile::chooseVariants(ArrayRef<ContractionProblem> problems,
                                         ArrayRef<ContractionCandidate> candidates, const DeviceRates &rates,
                                         size_t most) {
  Candidates different = getDifferent(candidates);
  Partition best = partition(Class(llvm::to_vector(llvm::seq(problems.size())), different), problems, different, most);
  ContractionVariants chosen;
  for (size_t number = 0; number < best.lower.size(); ++number)
    chosen.variants.push_back(
        {best.lower[number].extent, findEnd(number, best, problems, rates), best.lower[number].members.best->choice});
  chosen.otherwise = best.rest.best->choice;
  return chosen;
}

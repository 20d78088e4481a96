#include "compiler/tile/ContractionVariants.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <map>
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
using Problems = SmallVector<size_t>;

namespace {

/// Problems, the candidate that suits them best, and the sum of the squares of its costs.
struct Class {
  Problems problems;
  const ContractionCandidate *best = nullptr;
  double sum = 0;
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

  /// The candidate of the first class whose condition holds.
  const ContractionCandidate &getFor(const ContractionProblem &problem) const {
    for (const Lower &one : lower)
      if (tile::getExtent(problem, one.extent) <= one.most)
        return *one.members.best;
    return *rest.best;
  }
};

/// Divides problems into classes, each of which pays. Different orders of conditions lead to the same classes, which
/// are looked at once.
class Partitioner {
public:
  Partitioner(ArrayRef<ContractionProblem> problems, Candidates candidates)
      : problems(problems), candidates(std::move(candidates)) {}

  /// The partition with the least cost into `most` classes.
  const Partition &divide(const Problems &members, size_t most);

private:
  const Class &getClass(const Problems &members);
  bool pays(const Class &lower, const Partition &others) const;

  ArrayRef<ContractionProblem> problems;
  Candidates candidates;
  std::map<Problems, Class> classes;
  std::map<std::pair<size_t, Problems>, Partition> partitions;
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

const Class &Partitioner::getClass(const Problems &members) {
  auto [known, isNew] = classes.try_emplace(members);
  Class &found = known->second;
  if (!isNew)
    return found;
  found.problems = members;
  found.sum = INFINITY;
  for (const ContractionCandidate *candidate : candidates) {
    double sum = 0;
    for (const size_t *member = members.begin(); member != members.end() && sum < found.sum; ++member)
      sum += candidate->costs[*member] * candidate->costs[*member];
    if (sum < found.sum) {
      found.best = candidate;
      found.sum = sum;
    }
  }
  return found;
}

/// Whether some problem of the class would be that much slower in one of the others.
bool Partitioner::pays(const Class &lower, const Partition &others) const {
  return llvm::any_of(lower.problems, [&](size_t number) {
    return others.getFor(problems[number]).costs[number] - lower.best->costs[number] >= std::log(leastGain);
  });
}

const Partition &Partitioner::divide(const Problems &members, size_t most) {
  auto known = partitions.find({most, members});
  if (known != partitions.end())
    return known->second;
  const Class &whole = getClass(members);
  Partition best{{}, whole, whole.sum};
  for (ContractionExtent extent : ArrayRef(extents).take_front(most < 2 ? 0 : std::size(extents))) {
    SmallVector<int64_t> values =
        llvm::map_to_vector(members, [&](size_t number) { return getExtent(problems[number], extent); });
    llvm::sort(values);
    values.erase(llvm::unique(values), values.end());
    for (auto [last, next] : llvm::zip(values, llvm::drop_begin(values))) {
      Problems lower, upper;
      for (size_t number : members)
        (getExtent(problems[number], extent) <= last ? lower : upper).push_back(number);
      const Class &first = getClass(lower);
      if (first.sum >= best.sum)
        continue;
      const Partition &others = divide(upper, most - 1);
      if (first.sum + others.sum >= best.sum || !pays(first, others))
        continue;
      best = others;
      best.sum += first.sum;
      best.lower.insert(best.lower.begin(), Lower{extent, last, next, first});
    }
  }
  return partitions.try_emplace({most, members}, std::move(best)).first->second;
}

/// The largest value of the extent, below the next class, up to which problems are faster by the candidate of a class
/// than by those of later ones, and none so much slower that a class of its own would pay.
static int64_t findEnd(size_t number, const Partition &partition, ArrayRef<ContractionProblem> problems,
                       const DeviceRates &rates) {
  const Lower &lower = partition.lower[number];
  Partition later = partition;
  later.lower.erase(later.lower.begin(), later.lower.begin() + number + 1);
  auto getCost = [&](const ContractionCandidate &candidate, const ContractionProblem &problem) {
    return std::log(candidate.choice.estimate(problem, rates, 1).getTotal());
  };
  auto isFaster = [&](int64_t value) {
    double sum = 0, most = -INFINITY;
    for (size_t member : lower.members.problems) {
      ContractionProblem problem = problems[member];
      problem.*getMember(problem, lower.extent) = value;
      double difference = getCost(*lower.members.best, problem) - getCost(later.getFor(problem), problem);
      sum += difference;
      most = std::max(most, difference);
    }
    return sum < 0 && most < std::log(leastGain);
  };
  int64_t most = lower.most;
  for (int64_t next = 2 * most; next < lower.next && isFaster(next); next *= 2)
    most = next;
  return most;
}

ContractionVariants tile::chooseVariants(ArrayRef<ContractionProblem> problems,
                                         ArrayRef<ContractionCandidate> candidates, const DeviceRates &rates,
                                         size_t most) {
  Partition best =
      Partitioner(problems, getDifferent(candidates)).divide(llvm::to_vector(llvm::seq(problems.size())), most);
  ContractionVariants chosen;
  for (size_t number = 0; number < best.lower.size(); ++number)
    chosen.variants.push_back(
        {best.lower[number].extent, findEnd(number, best, problems, rates), best.lower[number].members.best->choice});
  chosen.otherwise = best.rest.best->choice;
  return chosen;
}

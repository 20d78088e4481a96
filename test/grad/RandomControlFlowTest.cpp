// Gradients of random programs of nested loops, scans and branches. Integers decide which way they go, so that a small
// step of a float changes none of that.
#include "test/grad/GradientCheck.h"
#include <random>

namespace freestone::grad {

namespace {

constexpr const char *vectorType = "!graph.tensor<[n], f64>";
constexpr const char *matrixType = "!graph.tensor<[n, n], f64>";
constexpr const char *stackType = "!graph.tensor<[t, n], f64>";
constexpr const char *integerType = "!graph.tensor<[], i64>";
constexpr const char *boolType = "!graph.tensor<[], i1>";

/// The text of a program of some vectors [n], stacks of vectors [t, n] and integers.
class RandomProgram {
public:
  explicit RandomProgram(unsigned seed, bool recomputes) : random(seed) {
    Scope scope = {{"%x", "%y"}, {"%xs"}, {"%k"}, 0};
    for (int i = 0; i < 3; ++i)
      fill(scope);
    std::string last = mix(scope), stack = pick(scope.stacks);
    text = std::string("(%x: ") + vectorType + ", %y: " + vectorType + ", %xs: " + stackType + ", %w: " + matrixType +
           ", %k: " + integerType + " {test.below = \"10\"}) -> (" + vectorType + ", " + stackType + ")" +
           (recomputes ? " attributes {grad.recomputes}" : "") + " {\n" + body + "return " + last + ", " + stack +
           " : " + vectorType + ", " + stackType + "\n}";
  }

  std::string text;
  int loops = 0, scans = 0, branches = 0;

private:
  /// The values that are in sight.
  struct Scope {
    std::vector<std::string> vectors, stacks, integers;
    int depth;
    Scope within() const {
      Scope scope = *this;
      ++scope.depth;
      return scope;
    }
  };

  int64_t draw(int64_t end) { return static_cast<int64_t>(random() % static_cast<uint64_t>(end)); }
  std::string fresh() { return "%v" + std::to_string(++count); }
  std::string pick(const std::vector<std::string> &names) {
    size_t recent = std::min<size_t>(names.size(), 4);
    return names[names.size() - 1 - static_cast<size_t>(draw(static_cast<int64_t>(recent)))];
  }
  std::string add(const std::string &what) {
    std::string name = fresh();
    body += name + " = " + what + "\n";
    return name;
  }
  std::string integer(int64_t value) {
    return add("graph.constant dense<" + std::to_string(value) + "> : tensor<i64> -> " + integerType);
  }

  /// A new vector.
  std::string mix(Scope &scope) {
    std::string made;
    switch (draw(4)) {
    case 0:
      made = add("graph.contract " + pick(scope.vectors) + ", %w batch [] x [] contract [0] x [0] : " + vectorType +
                 ", " + matrixType);
      break;
    case 1:
      made = add("graph.unary sin " + pick(scope.vectors) + " : " + vectorType);
      break;
    case 2:
      made = add("graph.binary mul " + pick(scope.vectors) + ", " + pick(scope.vectors) + " : " + vectorType);
      break;
    default:
      made = add("graph.binary add " + pick(scope.vectors) + ", " + pick(scope.vectors) + " : " + vectorType);
    }
    scope.vectors.push_back(add("graph.unary tanh " + made + " : " + vectorType));
    return scope.vectors.back();
  }

  /// A new integer below 11.
  std::string number(Scope &scope) {
    std::string more =
        add("graph.binary add " + pick(scope.integers) + ", " + integer(1 + draw(5)) + " : " + integerType);
    scope.integers.push_back(add("graph.binary mod " + more + ", " + integer(11) + " : " + integerType));
    return scope.integers.back();
  }

  std::string condition(Scope &scope) {
    std::string rest =
        add("graph.binary mod " + pick(scope.integers) + ", " + integer(2 + draw(3)) + " : " + integerType);
    return add(std::string("graph.compare ") + (draw(2) ? "eq " : "ne ") + rest + ", " + integer(draw(2)) + " : " +
               integerType);
  }

  void branch(Scope &scope) {
    ++branches;
    std::string made = fresh(), chosen = fresh(), when = condition(scope);
    body += made + ", " + chosen + " = graph.if " + when + " {\n";
    for (int side = 0; side < 2; ++side) {
      Scope inner = scope.within();
      fill(inner);
      std::string vector = mix(inner), integer = number(inner);
      body += "graph.yield " + vector + ", " + integer + " : " + vectorType + ", " + integerType + "\n" +
              (side ? "}" : "} else {\n");
    }
    body += std::string(" : ") + boolType + " -> " + vectorType + ", " + integerType + "\n";
    scope.vectors.push_back(made);
    scope.integers.push_back(chosen);
  }

  /// Over a stack of vectors, or over numbers.
  void scan(Scope &scope) {
    ++scans;
    const bool counts = draw(3) == 0;
    const int64_t trips = draw(4);
    std::string numbers = "!graph.tensor<[" + std::to_string(trips) + "], i64>";
    std::string over = counts ? add("graph.constant dense<1> : tensor<" + std::to_string(trips) + "xi64> -> " + numbers)
                              : pick(scope.stacks);
    std::string made = fresh(), counted = fresh(), all = fresh(), state = fresh(), counter = fresh(), slice = fresh();
    std::string first = pick(scope.vectors), start = pick(scope.integers);
    body += made + ", " + counted + (counts ? "" : ", " + all) + " = graph.scan carry " + first + ", " + start + " : " +
            vectorType + ", " + integerType + " over " + over + " : " + (counts ? numbers : stackType) + " {\n^bb0(" +
            state + ": " + vectorType + ", " + counter + ": " + integerType + ", " + slice + ": " +
            (counts ? integerType : vectorType) + "):\n";
    Scope inner = scope.within();
    inner.vectors.push_back(state);
    inner.integers.push_back(counter);
    (counts ? inner.integers : inner.vectors).push_back(slice);
    fill(inner);
    std::string next = mix(inner), following = number(inner), kept = draw(2) ? next : mix(inner);
    body += "graph.yield " + next + ", " + following + (counts ? "" : ", " + kept) + " : " + vectorType + ", " +
            integerType + (counts ? "" : std::string(", ") + vectorType) + "\n} -> " + vectorType + ", " + integerType +
            (counts ? "" : std::string(", ") + stackType) + "\n";
    scope.vectors.push_back(made);
    scope.integers.push_back(counted);
    if (!counts)
      scope.stacks.push_back(all);
  }

  /// Ends at a limit, or before it where integers say so, and may collect what it computes. Within other loops it would
  /// be refused: what is kept of it has another size each time.
  void loop(Scope &scope) {
    ++loops;
    const bool collects = draw(2);
    std::string made = fresh(), counted = fresh(), all = fresh(), trip = fresh(), state = fresh(), counter = fresh();
    std::string limit = integer(draw(5)), first = pick(scope.vectors), start = pick(scope.integers);
    std::string collected = "!graph.tensor<[trips" + std::to_string(count) + ", n], f64>";
    body += made + ", " + counted + (collects ? ", " + all : "") + " = graph.while max " + limit + " : " + integerType +
            " carry " + first + ", " + start + " : " + vectorType + ", " + integerType + " {\n^bb0(" + trip + ": " +
            integerType + ", " + state + ": " + vectorType + ", " + counter + ": " + integerType + "):\n";
    Scope inner = scope.within();
    inner.vectors.push_back(state);
    inner.integers.insert(inner.integers.end(), {trip, counter});
    fill(inner);
    std::string next = mix(inner), following = number(inner), kept = mix(inner), goesOn = condition(inner);
    body += "graph.yield " + goesOn + ", " + next + ", " + following + (collects ? ", " + kept : "") + " : " +
            boolType + ", " + vectorType + ", " + integerType + (collects ? std::string(", ") + vectorType : "") +
            "\n} -> " + vectorType + ", " + integerType + (collects ? ", " + collected : "") + "\n";
    scope.vectors.push_back(made);
    scope.integers.push_back(counted);
    if (collects)
      scope.vectors.push_back(add("graph.reduce add " + all + " axes [0] : " + collected));
  }

  void fill(Scope &scope) {
    for (int64_t left = 1 + draw(2); left > 0; --left) {
      int64_t choice = draw(scope.depth == 0 ? 6 : scope.depth < 3 ? 5 : 3);
      if (choice < 2)
        mix(scope);
      else if (choice == 2)
        number(scope);
      else if (choice == 3)
        branch(scope);
      else if (choice == 4)
        scan(scope);
      else
        loop(scope);
    }
  }

  std::mt19937 random;
  std::string body;
  int count = 0;
};

class RandomControlFlowGradient : public GradientCheck {
protected:
  void checkSeeds(bool recompute) {
    int loops = 0, scans = 0, branches = 0;
    for (unsigned seed = 0; seed < 150; ++seed) {
      RandomProgram program(seed, recompute);
      SCOPED_TRACE("seed " + std::to_string(seed) + program.text);
      checkAt(program.text, {{"n", 1 + seed % 3}, {"t", seed % 4}});
      if (HasFailure())
        return;
      loops += program.loops;
      scans += program.scans;
      branches += program.branches;
    }
    EXPECT_GT(std::min({loops, scans, branches}), 100);
  }
};

TEST_F(RandomControlFlowGradient, Kept) { checkSeeds(false); }

/// What iterations computed is computed again.
TEST_F(RandomControlFlowGradient, Recomputed) { checkSeeds(true); }

} // namespace

} // namespace freestone::grad

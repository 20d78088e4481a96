#ifndef FREESTONE_TEST_CODEGEN_PROGRAMRUNNER_H
#define FREESTONE_TEST_CODEGEN_PROGRAMRUNNER_H

#include "compiler/dialect/sym/Expr.h"
#include "test/codegen/LoadedObjects.h"
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace freestone::test {

/// Memory that ends exactly at an unreadable page: a read past the end crashes.
class GuardedMemory {
public:
  explicit GuardedMemory(size_t bytes);
  GuardedMemory(GuardedMemory &&other) { *this = std::move(other); }
  GuardedMemory &operator=(GuardedMemory &&other);
  ~GuardedMemory();
  template <typename T> T *as() { return reinterpret_cast<T *>(data); }
  size_t size() const { return bytes; }

private:
  char *map = nullptr, *data = nullptr;
  size_t mapped = 0, bytes = 0;
};

/// Tile programs in text form, tiled, compiled and loaded into this process.
class ProgramRunner {
public:
  /// The text of a module of `tile.program`s without plans. If it can't be compiled, `error()` has the reason.
  explicit ProgramRunner(const std::string &text, const std::string &target = "host");
  ~ProgramRunner();

  const std::string &error() const { return why; }
  double compileSeconds() const { return seconds; }
  /// The plan's expression for these values of the program's symbols.
  int64_t getTiles(const std::string &program, const std::vector<int64_t> &sizes) const;
  /// Runs all tiles, in `calls` calls of consecutive tiles. Returns the site of a failed check, or 0. Scratch is
  /// guarded too.
  int64_t run(const std::string &program, const std::vector<void *> &buffers, const std::vector<int64_t> &sizes,
              int64_t calls = 1) const;

private:
  struct State;
  std::unique_ptr<State> state;
  std::string why;
  double seconds = 0;
};

} // namespace freestone::test

#endif // FREESTONE_TEST_CODEGEN_PROGRAMRUNNER_H

#ifndef FREESTONE_COMPILER_INTERPRETER_TENSORMEMORY_H
#define FREESTONE_COMPILER_INTERPRETER_TENSORMEMORY_H

#include <cstdint>
#include <memory>

namespace freestone::interpreter {

/// Memory of zeros, aligned for every element. It may be released by any thread.
std::shared_ptr<void> allocateTensorMemory(int64_t bytes);

/// While one lives, what this thread releases is kept for the next of the same size: fresh pages are what large tensors
/// cost most.
class KeepTensorMemory {
public:
  KeepTensorMemory();
  ~KeepTensorMemory();
  KeepTensorMemory(const KeepTensorMemory &) = delete;
};

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_TENSORMEMORY_H

#ifndef FREESTONE_COMPILER_INTERPRETER_TENSORMEMORY_H
#define FREESTONE_COMPILER_INTERPRETER_TENSORMEMORY_H

#include <cstdint>
#include <memory>

namespace freestone::interpreter {

/// Zeroed memory, aligned for every element type. Any thread may release it.
std::shared_ptr<void> allocateTensorMemory(int64_t bytes);

/// While alive, keeps memory released by this thread for the next tensor of the same size: fresh pages dominate the
/// cost of large tensors.
class KeepTensorMemory {
public:
  KeepTensorMemory();
  ~KeepTensorMemory();
  KeepTensorMemory(const KeepTensorMemory &) = delete;
};

} // namespace freestone::interpreter

#endif // FREESTONE_COMPILER_INTERPRETER_TENSORMEMORY_H

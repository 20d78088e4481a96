#include "compiler/interpreter/TensorMemory.h"
#include <cstring>
#include <unordered_map>
#include <vector>

namespace freestone::interpreter {

static thread_local int keepers = 0;
static thread_local std::unordered_map<int64_t, std::vector<void *>> kept;

std::shared_ptr<void> allocateTensorMemory(int64_t bytes) {
  void *memory;
  if (auto same = kept.find(bytes); same != kept.end() && !same->second.empty()) {
    memory = same->second.back();
    same->second.pop_back();
  } else {
    memory = ::operator new(bytes);
  }
  std::memset(memory, 0, bytes);
  return std::shared_ptr<void>(memory, [bytes](void *released) {
    if (keepers > 0)
      kept[bytes].push_back(released);
    else
      ::operator delete(released);
  });
}

KeepTensorMemory::KeepTensorMemory() { ++keepers; }

KeepTensorMemory::~KeepTensorMemory() {
  if (--keepers > 0)
    return;
  for (auto &[bytes, list] : kept)
    for (void *memory : list)
      ::operator delete(memory);
  kept.clear();
}

} // namespace freestone::interpreter

// The types behind the opaque handles of freestone/runtime.h, and the conversion of C++ results to C results.
#ifndef FREESTONE_RUNTIME_INTERFACE_INTERFACE_H
#define FREESTONE_RUNTIME_INTERFACE_INTERFACE_H

#include "freestone/runtime.h"
#include "runtime/instance/Instance.h"
#include "runtime/instance/WeightSupply.h"
#include <algorithm>
#include <cstring>
#include <new>

namespace freestone::runtime {

/// The texts of shapes as C strings; of stacks, those of an element.
class ShapeTexts {
public:
  explicit ShapeTexts(const std::vector<TensorInfo> &tensors) {
    for (const TensorInfo &tensor : tensors) {
      std::vector<const char *> &texts = shapes.emplace_back();
      for (const std::string &text : std::span(tensor.shape).subspan(tensor.isStack() ? 1 : 0))
        texts.push_back(text.c_str());
    }
  }
  const char *const *of(size_t index) const { return shapes[index].data(); }

private:
  std::vector<std::vector<const char *>> shapes;
};

/// Stores the error of this thread.
freestone_status report(const Status &status);

/// Calls `body`, which returns a Status; converts exceptions to errors.
template <typename Body> freestone_status guarded(Body body) noexcept {
  try {
    return report(body());
  } catch (const std::bad_alloc &) {
    return report(Status(Code::OutOfMemory, "out of memory"));
  } catch (const std::exception &error) {
    return report(Status(Code::Internal, std::string("internal error: ") + error.what()));
  }
}

/// Reads a caller's struct of any version: missing fields are zero.
template <typename Struct> Struct readStruct(const Struct *given) {
  Struct result = {};
  if (given)
    std::memcpy(&result, given, std::min(given->struct_size, sizeof(Struct)));
  return result;
}

/// Sets the fields that the caller's struct has.
template <typename Struct> Status writeStruct(Struct *given, Struct value) {
  if (!given || given->struct_size < sizeof(size_t))
    return {Code::InvalidArgument, "a struct to fill in is null, or its struct_size is not set"};
  value.struct_size = given->struct_size;
  std::memcpy(given, &value, std::min(given->struct_size, sizeof(Struct)));
  return {};
}

/// Entry `index` of a list of inputs, outputs or weights.
inline Status describeValue(const std::vector<TensorInfo> &tensors, const ShapeTexts &shapes, size_t index,
                            freestone_value_info *info) {
  if (size_t values = countValues(tensors); index >= values)
    return {Code::InvalidArgument, "there is no value " + std::to_string(index) + ", only " + std::to_string(values)};
  const TensorInfo &tensor = tensors[index];
  freestone_value_info value = {};
  value.name = tensor.name.c_str();
  value.kind = static_cast<freestone_value_kind>(tensor.kind);
  value.dtype = static_cast<freestone_dtype>(tensor.dtype);
  value.rank = static_cast<int32_t>(tensor.shape.size()) - tensor.isStack();
  value.length = tensor.isStack() ? tensor.shape.front().c_str() : nullptr;
  value.shape = shapes.of(index);
  return writeStruct(info, value);
}

inline Status nullArgument(const char *name) {
  return {Code::InvalidArgument, std::string("argument '") + name + "' is null"};
}

} // namespace freestone::runtime

struct freestone_artifact {
  std::shared_ptr<freestone::runtime::Artifact> artifact;
  freestone::runtime::WeightSupply supply;
  freestone::runtime::ShapeTexts inputShapes, outputShapes, missingShapes;
  std::vector<const freestone::runtime::Entry *> entries; ///< the entries that instances can run

  explicit freestone_artifact(std::shared_ptr<freestone::runtime::Artifact> loaded)
      : artifact(std::move(loaded)), supply(artifact), inputShapes(main().inputs), outputShapes(main().outputs),
        missingShapes(supply.needed()) {
    for (const freestone::runtime::Entry &entry : artifact->descriptor().entries)
      if (entry.name != "init")
        entries.push_back(&entry);
  }

  const freestone::runtime::Entry &main() const { return *artifact->descriptor().findEntry("main"); }
  /// Null if instances can't run an entry of this name.
  const freestone::runtime::Entry *findEntry(const std::string &name) const {
    auto found = std::ranges::find_if(entries, [&](const auto *entry) { return entry->name == name; });
    return found == entries.end() ? nullptr : *found;
  }
};

struct freestone_state {
  std::shared_ptr<freestone::runtime::State> state;
};

struct freestone_timeline {
  std::shared_ptr<freestone::runtime::Timeline> timeline;
};

struct freestone_instance {
  std::unique_ptr<freestone::runtime::Instance> instance;
  freestone::runtime::ShapeTexts inputShapes, outputShapes;
  std::vector<std::vector<int64_t>> viewShapes;                 ///< of the last view of each output
  std::vector<std::vector<std::vector<int64_t>>> elementShapes; ///< of the views of the elements of each output

  explicit freestone_instance(std::unique_ptr<freestone::runtime::Instance> created)
      : instance(std::move(created)), inputShapes(instance->entry().inputs), outputShapes(instance->entry().outputs),
        viewShapes(instance->entry().outputs.size()), elementShapes(instance->entry().outputs.size()) {}
};

struct freestone_watch {
  freestone::runtime::Instance &instance;
  std::shared_ptr<freestone::runtime::RunWatch> watch;
};

#endif // FREESTONE_RUNTIME_INTERFACE_INTERFACE_H

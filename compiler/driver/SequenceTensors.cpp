#include "compiler/driver/SequenceTensors.h"

#include "compiler/artifact/BuildDescriptor.h"
#include "compiler/dialect/graph/GraphDialect.h"
#include "runtime/instance/Sequence.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::driver;

static void describeSequence(const SequencePort &port, std::vector<runtime::TensorInfo> &tensors) {
  auto find = [&](const std::string &name) -> int64_t {
    auto found = llvm::find_if(tensors, [&](const runtime::TensorInfo &tensor) { return tensor.name == name; });
    return name.empty() || found == tensors.end() ? -1 : found - tensors.begin();
  };
  int64_t stack = find(port.name);
  if (stack < 0)
    return;
  runtime::TensorInfo &tensor = tensors[stack];
  tensor.kind = port.kind == SequencePort::Kind::Sequence   ? runtime::ValueKind::Sequence
                : port.kind == SequencePort::Kind::Optional ? runtime::ValueKind::Optional
                                                            : runtime::ValueKind::OptionalSequence;
  tensor.openAxes = port.openAxes;
  tensor.openNames = port.openNames;
  tensor.lacking = port.lacking;
  tensor.sizes = find(port.sizes);
  tensor.presence = find(port.presence);
  for (int64_t part : {tensor.sizes, tensor.presence})
    if (part >= 0)
      tensors[part].kind = runtime::ValueKind::Part;
}

void driver::describeSequences(ArrayRef<SequencePort> sequences, runtime::Entry &entry) {
  for (const SequencePort &port : sequences)
    describeSequence(port, port.isInput ? entry.inputs : entry.outputs);
}

/// A function as an entry, as far as its inputs and outputs go: a slot for each of their sizes.
static runtime::Entry describeFunction(func::FuncOp function, ArrayRef<SequencePort> sequences) {
  runtime::Entry entry;
  llvm::MapVector<sym::Expr, int64_t> slots;
  auto add = [&](std::vector<runtime::TensorInfo> &tensors, StringAttr name, Type type) {
    auto tensor = cast<graph::TensorType>(type);
    runtime::TensorInfo &info = tensors.emplace_back();
    info.name = name.str();
    info.dtype = artifact::dtypeOf(tensor.getElementType());
    for (sym::Expr size : tensor.getShape()) {
      info.shape.push_back(size.str());
      info.dimSlots.push_back(slots.insert({size, slots.size()}).first->second);
    }
  };
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    add(entry.inputs, function.getArgAttrOfType<StringAttr>(index, "graph.name"), type);
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    add(entry.outputs, function.getResultAttrOfType<StringAttr>(index, "graph.name"), type);
  describeSequences(sequences, entry);
  return entry;
}

static DLTensor viewOf(const freestone_plain_tensor &tensor, runtime::DType dtype) {
  DLTensor view = {};
  view.data = const_cast<void *>(tensor.data);
  view.device = {kDLCPU, 0};
  view.ndim = tensor.rank;
  view.dtype = runtime::toDLPack(dtype);
  view.shape = const_cast<int64_t *>(tensor.dims);
  return view;
}

namespace {

/// Collects the inputs of one function.
class InputBinder {
public:
  InputBinder(func::FuncOp function, ArrayRef<SequencePort> sequences, ArrayRef<freestone_plain_tensor> given)
      : function(function), given(given), entry(describeFunction(function, sequences)), sequences(entry.inputs.size()),
        views(entry.inputs.size()) {}

  FailureOr<std::vector<interpreter::HostTensor>> bind(std::string &error);

private:
  std::string view(size_t index);
  std::string viewElements(size_t index, ArrayRef<freestone_plain_tensor> found);

  func::FuncOp function;
  ArrayRef<freestone_plain_tensor> given;
  runtime::Entry entry;
  std::vector<std::optional<runtime::Sequence>> sequences;
  std::vector<std::optional<runtime::TensorView>> views;
};

} // namespace

/// Returns what is wrong, or nothing.
std::string InputBinder::view(size_t index) {
  const runtime::TensorInfo &info = entry.inputs[index];
  std::vector<freestone_plain_tensor> found;
  llvm::copy_if(given, std::back_inserter(found),
                [&](const freestone_plain_tensor &tensor) { return info.name == tensor.name && tensor.rank >= 0; });
  if (info.isStack())
    return viewElements(index, found);
  if (found.empty())
    return "input '" + info.name + "' is missing";
  if (!found.front().type || found.front().type != runtime::dtypeName(info.dtype))
    return "input '" + info.name + "' has the type " + (found.front().type ? found.front().type : "none") + ", not " +
           std::string(runtime::dtypeName(info.dtype));
  ArrayRef<int64_t> dims(found.front().dims, found.front().rank);
  views[index] = runtime::TensorView{const_cast<void *>(found.front().data), dims.vec(), 0};
  return "";
}

std::string InputBinder::viewElements(size_t index, ArrayRef<freestone_plain_tensor> found) {
  const runtime::TensorInfo &info = entry.inputs[index];
  runtime::Sequence &sequence = sequences[index].emplace();
  bool isGiven = llvm::any_of(given, [&](const freestone_plain_tensor &tensor) { return info.name == tensor.name; });
  bool isLeftOut = !isGiven && info.kind == runtime::ValueKind::OptionalSequence;
  if (isLeftOut || (found.size() == 1 && !found.front().type)) {
    sequence.isAbsent = true;
    return info.kind == runtime::ValueKind::Sequence ? "input '" + info.name + "' is not optional" : "";
  }
  std::vector<DLTensor> elements;
  for (const freestone_plain_tensor &tensor : found) {
    std::optional<runtime::DType> dtype = runtime::dtypeFromName(tensor.type ? tensor.type : "");
    if (!dtype)
      return "an element of input '" + info.name + "' has no type";
    elements.push_back(viewOf(tensor, *dtype));
  }
  return runtime::viewSequence(elements, info, sequence).message();
}

FailureOr<std::vector<interpreter::HostTensor>> InputBinder::bind(std::string &error) {
  for (size_t index = 0; index < runtime::countValues(entry.inputs); ++index)
    if (error = view(index); !error.empty())
      return failure();
  runtime::Status status = runtime::layOutStacks(entry, sequences, views);
  if (!status.ok()) {
    error = status.message();
    return failure();
  }
  std::vector<interpreter::HostTensor> inputs;
  for (auto [info, view, type] : llvm::zip_equal(entry.inputs, views, function.getArgumentTypes()))
    inputs.push_back(interpreter::HostTensor::allocate(cast<graph::TensorType>(type).getElementType(), view->shape));
  for (size_t index = 0; index < runtime::countValues(entry.inputs); ++index) {
    const runtime::TensorInfo &info = entry.inputs[index];
    std::vector<char> &bytes = inputs[index].bytes;
    if (!info.isStack()) {
      std::copy_n(static_cast<const char *>(views[index]->data), bytes.size(), bytes.data());
      continue;
    }
    runtime::pack(*sequences[index], info, *views[index], bytes.data());
    if (info.sizes >= 0)
      runtime::packSizes(*sequences[index], info, reinterpret_cast<int64_t *>(inputs[info.sizes].bytes.data()));
    if (info.presence >= 0)
      inputs[info.presence].bytes.front() = !sequences[index]->isAbsent;
  }
  return inputs;
}

FailureOr<std::vector<interpreter::HostTensor>> driver::bindInputs(func::FuncOp function,
                                                                   ArrayRef<SequencePort> sequences,
                                                                   ArrayRef<freestone_plain_tensor> given,
                                                                   std::string &error) {
  return InputBinder(function, sequences, given).bind(error);
}

void driver::takeOutputs(func::FuncOp function, ArrayRef<SequencePort> sequences,
                         MutableArrayRef<interpreter::HostTensor> outputs, freestone_take_tensor take, void *user) {
  runtime::Entry entry = describeFunction(function, sequences);
  for (size_t index = 0; index < runtime::countValues(entry.outputs); ++index) {
    const runtime::TensorInfo &declared = entry.outputs[index];
    interpreter::HostTensor &output = outputs[index];
    // With `wide` the elements may be wider than declared.
    runtime::TensorInfo info = declared;
    info.dtype = artifact::dtypeOf(output.elementType);
    std::string type(runtime::dtypeName(info.dtype));
    auto give = [&](const char *typeName, ArrayRef<int64_t> dims, const void *data) {
      freestone_plain_tensor tensor = {info.name.c_str(), typeName, static_cast<int64_t>(dims.size()), dims.data(),
                                       data};
      take(user, &tensor);
    };
    if (!info.isStack()) {
      give(type.c_str(), output.dims, output.bytes.data());
      continue;
    }
    if (info.presence >= 0 && !outputs[info.presence].bytes.front()) {
      give(nullptr, {}, nullptr);
      continue;
    }
    const int64_t *sizes =
        info.sizes >= 0 ? reinterpret_cast<const int64_t *>(outputs[info.sizes].bytes.data()) : nullptr;
    runtime::TensorView stack = {output.bytes.data(), output.dims, static_cast<int64_t>(output.bytes.size())};
    runtime::compact(info, stack, sizes);
    freestone_plain_tensor begin = {info.name.c_str(), type.c_str(), -1, nullptr, nullptr};
    take(user, &begin);
    for (int64_t element = 0; element < output.dims.front(); ++element) {
      runtime::TensorView view = runtime::elementOf(info, stack, sizes, element);
      give(type.c_str(), view.shape, view.data);
    }
  }
}

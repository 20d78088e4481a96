#include "test/guarded/GuardedModel.h"

#include "compiler/driver/Interface.h"
#include "onnx/defs/parser.h"
#include "gtest/gtest.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <unistd.h>

using namespace freestone::test;

namespace {

struct ElementType {
  int onnx;
  freestone_dtype dtype;
  DLDataType dlpack;
};

constexpr ElementType elementTypes[] = {
    {onnx::TensorProto::FLOAT, FREESTONE_F32, {kDLFloat, 32, 1}},
    {onnx::TensorProto::DOUBLE, FREESTONE_F64, {kDLFloat, 64, 1}},
    {onnx::TensorProto::FLOAT16, FREESTONE_F16, {kDLFloat, 16, 1}},
    {onnx::TensorProto::BFLOAT16, FREESTONE_BF16, {kDLBfloat, 16, 1}},
    {onnx::TensorProto::INT64, FREESTONE_I64, {kDLInt, 64, 1}},
    {onnx::TensorProto::INT32, FREESTONE_I32, {kDLInt, 32, 1}},
    {onnx::TensorProto::INT8, FREESTONE_I8, {kDLInt, 8, 1}},
    {onnx::TensorProto::UINT8, FREESTONE_U8, {kDLUInt, 8, 1}},
    {onnx::TensorProto::BOOL, FREESTONE_I1, {kDLBool, 8, 1}},
};

const ElementType &typeOf(freestone_dtype dtype) {
  for (const ElementType &type : elementTypes)
    if (type.dtype == dtype)
      return type;
  ADD_FAILURE() << "an element type without an entry: " << freestone_dtype_name(dtype);
  abort();
}

size_t widthOf(freestone_dtype dtype) { return typeOf(dtype).dlpack.bits / 8; }

/// Limit of intermediates, and of each output: extreme sizes may ask for more.
constexpr size_t mostBytes = size_t(1) << 24;

/// Whether a tensor has more elements.
bool exceeds(const std::vector<int64_t> &dims, size_t most) {
  double count = 1;
  for (int64_t dim : dims)
    count *= static_cast<double>(dim);
  return count > static_cast<double>(most);
}

int64_t countOf(const std::vector<int64_t> &dims) {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

template <typename T> void put(HostArray &array, int64_t index, T value) {
  std::memcpy(array.bytes.data() + index * sizeof(T), &value, sizeof(T));
}

void putInteger(HostArray &array, int64_t index, int64_t value) {
  size_t width = widthOf(array.dtype);
  std::memcpy(array.bytes.data() + index * width, &value, width);
}

void putFloat(HostArray &array, int64_t index, float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  if (array.dtype == FREESTONE_F64)
    return put<double>(array, index, value);
  if (array.dtype == FREESTONE_F32)
    return put<float>(array, index, value);
  if (array.dtype == FREESTONE_BF16)
    return put<uint16_t>(array, index, bits >> 16);
  put(array, index, static_cast<_Float16>(value));
}

void fill(HostArray &array, int64_t index, Values values, std::mt19937 &random) {
  if (values == Values::zeros)
    return;
  auto among = [&](auto &choices) { return choices[random() % std::size(choices)]; };
  DLDataType type = typeOf(array.dtype).dlpack;
  if (type.code == kDLBool)
    return putInteger(array, index, random() % 2);
  if (type.code == kDLFloat || type.code == kDLBfloat) {
    constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
    constexpr float extremes[] = {infinity, -infinity, nan, 1e30f, -1e30f, 0.0f, 1.0f, -1.0f};
    return putFloat(array, index,
                    values == Values::hostile ? among(extremes) : 0.25f * (static_cast<int>(random() % 17) - 8));
  }
  using Limits = std::numeric_limits<int64_t>;
  constexpr int64_t extremes[] = {
      Limits::min(), Limits::max(), Limits::min() + 1, 1ll << 31, -(1ll << 31), 1ll << 40, -(1ll << 40),
      1000,          -1000,         1ll << 62,         0,         -1,           1,         0xffffffff,
      50'000'000};
  putInteger(array, index, values == Values::hostile ? among(extremes) : static_cast<int64_t>(random() % 5) - 2);
}

onnx::ModelProto parse(const std::string &text) {
  onnx::ModelProto model;
  std::string whole = "<ir_version: 10, opset_import: [\"\" : 24, \"ai.onnx.preview.training\" : 1]>" + text;
  onnx::OnnxParser parser(whole.c_str());
  auto status = parser.Parse(model);
  EXPECT_TRUE(status.IsOK()) << status.ErrorMessage() << " in " << text;
  return model;
}

/// Turns inputs into constants of the model.
void freeze(onnx::GraphProto &graph, const std::vector<HostArray> &frozen) {
  auto find = [&](const std::string &name) {
    auto found = frozen.begin();
    while (found != frozen.end() && found->name != name)
      ++found;
    return found;
  };
  google::protobuf::RepeatedPtrField<onnx::ValueInfoProto> kept;
  for (const onnx::ValueInfoProto &input : graph.input()) {
    auto array = find(input.name());
    if (array == frozen.end()) {
      *kept.Add() = input;
      continue;
    }
    onnx::TensorProto &constant = *graph.add_initializer();
    constant.set_name(input.name());
    constant.set_data_type(typeOf(array->dtype).onnx);
    for (int64_t dim : array->dims)
      constant.add_dims(dim);
    constant.set_raw_data(std::string(array->bytes.begin(), array->bytes.end()));
  }
  graph.mutable_input()->Swap(&kept);
}

/// The memory of an instance.
struct Arena {
  Flush flush;
  std::map<void *, GuardedMemory> pieces;

  static void *allocate(void *user, size_t bytes, size_t alignment) {
    auto *arena = static_cast<Arena *>(user);
    GuardedMemory piece(bytes, alignment, arena->flush);
    void *memory = piece.get();
    arena->pieces[memory] = std::move(piece);
    return memory;
  }
  static void deallocate(void *user, void *memory, size_t, size_t) { static_cast<Arena *>(user)->pieces.erase(memory); }
};

/// The memory of an operand, between guards.
struct Operand {
  Operand(freestone_dtype dtype, std::vector<int64_t> shape, Flush flush)
      : dims(std::move(shape)), bytes(countOf(dims) * widthOf(dtype)), memory(bytes, widthOf(dtype), flush) {
    tensor.data = memory.get();
    tensor.device = {kDLCPU, 0};
    tensor.ndim = dims.size();
    tensor.dtype = typeOf(dtype).dlpack;
    tensor.shape = dims.data();
  }
  Operand(Operand &&) = default;

  std::vector<int64_t> dims;
  size_t bytes;
  GuardedMemory memory;
  DLTensor tensor = {};
};

freestone_status runGuarded(freestone_artifact *artifact, const std::vector<HostArray> &inputs, Flush flush,
                            std::vector<HostArray> &outputs) {
  Arena arena{flush, {}};
  freestone_instance_options options = {};
  options.struct_size = sizeof(options);
  options.threads = 1;
  options.max_memory = mostBytes;
  options.user = &arena;
  options.allocate = Arena::allocate;
  options.deallocate = Arena::deallocate;
  freestone_instance *instance = nullptr;
  freestone_status status = freestone_instance_create(artifact, &options, &instance);
  std::vector<Operand> operands;
  operands.reserve(inputs.size() + freestone_artifact_output_count(artifact));
  for (size_t i = 0; !status && i < inputs.size(); ++i) {
    const Operand &operand = operands.emplace_back(inputs[i].dtype, inputs[i].dims, flush);
    if (operand.bytes)
      std::memcpy(operand.memory.get(), inputs[i].bytes.data(), operand.bytes);
    status = freestone_instance_set_input(instance, i, &operand.tensor);
  }
  if (!status)
    status = freestone_instance_prepare(instance);
  size_t outputCount = freestone_artifact_output_count(artifact);
  for (size_t i = 0; !status && i < outputCount; ++i) {
    freestone_value_info info = {};
    info.struct_size = sizeof(info);
    freestone_artifact_output(artifact, i, &info);
    // One more, so that a scalar has a pointer as well.
    std::vector<int64_t> dims(info.rank + 1);
    status = freestone_instance_output_shape(instance, i, dims.data());
    dims.pop_back();
    if (!status && exceeds(dims, mostBytes / widthOf(info.dtype)))
      status = FREESTONE_OUT_OF_MEMORY;
    outputs.push_back({info.name, info.dtype, dims, {}});
  }
  for (size_t i = 0; !status && i < outputCount; ++i) {
    const Operand &operand = operands.emplace_back(outputs[i].dtype, outputs[i].dims, flush);
    status = freestone_instance_set_output(instance, i, &operand.tensor);
  }
  if (!status)
    status = freestone_instance_run(instance);
  for (size_t i = 0; !status && i < outputCount; ++i) {
    HostArray &output = outputs[i];
    // Sizes determined at run time are at most those that the memory was allocated for.
    output.dims.reserve(1);
    status = freestone_instance_output_shape(instance, i, output.dims.data());
    auto *from = static_cast<const char *>(operands[inputs.size() + i].memory.get());
    output.bytes.assign(from, from + countOf(output.dims) * widthOf(output.dtype));
  }
  freestone_instance_release(instance);
  return status;
}

} // namespace

std::string freestone::test::describe(const Sizes &sizes) {
  std::string text;
  for (auto [symbol, size] : sizes)
    text += (text.empty() ? "" : ", ") + symbol + " = " + std::to_string(size);
  return "[" + text + "]";
}

GuardedModel::GuardedModel(const std::string &text, const std::vector<HostArray> &frozen) : text(text) {
  std::string pattern = testing::TempDir() + "freestone-guarded-XXXXXX";
  folder = mkdtemp(pattern.data());
  onnx::ModelProto model = parse(text);
  freeze(*model.mutable_graph(), frozen);
  for (const onnx::ValueInfoProto &value : model.graph().input()) {
    Input input = {value.name(), FREESTONE_F32, {}};
    for (const ElementType &type : elementTypes)
      if (type.onnx == value.type().tensor_type().elem_type())
        input.dtype = type.dtype;
    for (const auto &dim : value.type().tensor_type().shape().dim()) {
      input.dims.push_back(dim.has_dim_param() ? dim.dim_param() : std::to_string(dim.dim_value()));
      if (dim.has_dim_param() && std::find(symbols.begin(), symbols.end(), dim.dim_param()) == symbols.end())
        symbols.push_back(dim.dim_param());
    }
    inputs.push_back(std::move(input));
  }
  std::ofstream file(folder + "/model.onnx", std::ios::binary);
  model.SerializeToOstream(&file);
}

GuardedModel::~GuardedModel() {
  freestone_artifact_release(artifact);
  std::filesystem::remove_all(folder);
}

std::string GuardedModel::compile(const Sizes &bound) {
  freestone_artifact_release(artifact);
  artifact = nullptr;
  std::vector<freestone_dim_bound> bounds;
  for (const auto &[symbol, size] : bound)
    bounds.push_back({symbol.c_str(), size, size, 0});
  std::string model = folder + "/model.onnx", file = folder + "/model.stone";
  freestone_compile_options options = {};
  options.struct_size = sizeof(options);
  options.model_path = model.c_str();
  options.output_path = file.c_str();
  options.optimization_level = 2;
  options.threads = 1;
  options.dim_bound_count = bounds.size();
  options.dim_bounds = bounds.data();
  Watchdog dog(120, "the compiler does not come to an end with " + describe(bound) + ": " + text);
  freestone_compiler_result result = freestone_compiler()->compile(&options);
  std::string error = result.status ? result.error : "";
  EXPECT_NE(result.status != FREESTONE_COMPILER_OK, error.empty());
  freestone_compiler()->free_result(&result);
  if (error.empty() && freestone_artifact_load(file.c_str(), nullptr, &artifact))
    error = freestone_last_error();
  return error;
}

std::vector<HostArray> GuardedModel::draw(const Sizes &sizes, Values values, std::mt19937 &random) const {
  std::vector<HostArray> arrays;
  for (const Input &input : inputs) {
    HostArray &array = arrays.emplace_back(HostArray{input.name, input.dtype, {}, {}});
    for (const std::string &dim : input.dims) {
      auto known = sizes.find(dim);
      array.dims.push_back(known == sizes.end() ? std::stoll(dim) : known->second);
    }
    int64_t count = countOf(array.dims);
    array.bytes.resize(count * widthOf(array.dtype));
    for (int64_t i = 0; i < count; ++i)
      fill(array, i, values, random);
  }
  return arrays;
}

Outcome GuardedModel::run(const std::vector<HostArray> &arrays, Flush flush) const {
  Outcome outcome;
  outcome.fault = catchFault([&] {
    outcome.status = runGuarded(artifact, arrays, flush, outcome.outputs);
    if (outcome.status)
      outcome.message = freestone_last_error();
  });
  return outcome;
}

Interpretation GuardedModel::interpret(const std::vector<HostArray> &arrays) const {
  std::string model = folder + "/model.onnx";
  freestone_compile_options options = {};
  options.struct_size = sizeof(options);
  options.model_path = model.c_str();
  std::vector<freestone_plain_tensor> tensors;
  for (const HostArray &array : arrays)
    tensors.push_back({array.name.c_str(), freestone_dtype_name(array.dtype), static_cast<int64_t>(array.dims.size()),
                       array.dims.data(), array.bytes.data()});
  Interpretation interpretation;
  auto take = [](void *user, const freestone_plain_tensor *tensor) {
    HostArray array = {tensor->name, FREESTONE_F32, {tensor->dims, tensor->dims + tensor->rank}, {}};
    for (const ElementType &type : elementTypes)
      if (std::strcmp(freestone_dtype_name(type.dtype), tensor->type) == 0)
        array.dtype = type.dtype;
    auto *data = static_cast<const char *>(tensor->data);
    array.bytes.assign(data, data + countOf(array.dims) * widthOf(array.dtype));
    static_cast<std::vector<HostArray> *>(user)->push_back(std::move(array));
  };
  freestone_compiler_result result = freestone_compiler()->interpret(&options, tensors.data(), tensors.size(),
                                                                     /*wide=*/0, take, &interpretation.outputs);
  if (result.status != FREESTONE_COMPILER_OK)
    interpretation.error = result.error;
  freestone_compiler()->free_result(&result);
  return interpretation;
}

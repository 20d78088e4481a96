#include "compiler/driver/PackageArtifact.h"

#include "compiler/artifact/BuildDescriptor.h"
#include "compiler/artifact/Link.h"
#include "compiler/codegen/PassPrinting.h"
#include "compiler/codegen/cpu/DotProductKernels.h"
#include "compiler/codegen/cpu/EmitEntries.h"
#include "compiler/codegen/cpu/Passes.h"
#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/driver/SequenceTensors.h"
#include "compiler/weights/WeightStore.h"
#include "freestone/runtime.h"
#include "runtime/artifact/ArtifactFile.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;

namespace freestone::driver {

namespace {

std::vector<char> bytesOf(DenseElementsAttr value, graph::TensorType type) {
  std::vector<char> bytes;
  unsigned width = tile::getStorageType(type.getElementType()).getIntOrFloatBitWidth() / 8;
  auto append = [&](const APInt &element) {
    APInt bits = element.zextOrTrunc(8 * width);
    for (unsigned i = 0; i < width; ++i)
      bytes.push_back(static_cast<char>(bits.extractBitsAsZExtValue(8, 8 * i)));
  };
  // A splat of another shape stands for every element.
  int64_t count = type.getNumElements().asConstant().value_or(1);
  Type element = type.getElementType();
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = value.isSplat() ? 0 : i;
    APInt bits =
        isa<FloatType>(element) ? value.getValues<APFloat>()[at].bitcastToAPInt() : value.getValues<APInt>()[at];
    append(graph::isStorageOnly(element) ? tile::getStoredScalar(element, bits) : bits);
  }
  return bytes;
}

/// CPU features that the code may use and a machine may lack.
std::vector<std::string> requiredFeatures(const DeviceDescription &device, ArrayRef<codegen::Object> objects) {
  std::vector<std::string> features = device.instructions;
  if (llvm::any_of(objects, [](const codegen::Object &object) { return object.name == codegen::tileModuleName; }))
    llvm::append_range(features, device.tileInstructions);
  llvm::sort(features);
  return features;
}

std::string quoted(StringRef text) { return "'" + text.str() + "'"; }

/// A plain weight for DLPack. In the model's file weights may be unaligned; those are copied.
struct PlainWeight {
  std::vector<int64_t> dims;
  std::vector<int64_t> copy;
};

DLTensor viewOf(const Weight &weight, PlainWeight &plain) {
  std::vector<int64_t> &dims = plain.dims;
  dims = weight.dims;
  DLTensor tensor = {};
  tensor.data = const_cast<char *>(weight.bytes.data());
  if (reinterpret_cast<uintptr_t>(tensor.data) % sizeof(int64_t) != 0) {
    plain.copy.resize(llvm::divideCeil(weight.bytes.size(), sizeof(int64_t)));
    std::memcpy(plain.copy.data(), weight.bytes.data(), weight.bytes.size());
    tensor.data = plain.copy.data();
  }
  tensor.device = {kDLCPU, 0};
  tensor.ndim = dims.size();
  tensor.shape = dims.data();
  tensor.dtype = runtime::toDLPack(artifact::dtypeOf(weight.elementType));
  return tensor;
}

/// Runs `init`, in an artifact that leaves out the weights that `init` makes.
LogicalResult makeWeights(freestone_artifact *artifact, const WeightStore &weights, std::string &error) {
  std::vector<std::unique_ptr<PlainWeight>> supplied;
  for (size_t i = 0; i < freestone_artifact_missing_weight_count(artifact); ++i) {
    freestone_value_info info = {};
    info.struct_size = sizeof(info);
    freestone_artifact_missing_weight(artifact, i, &info);
    const Weight *weight = weights.find(info.name);
    if (!weight || (weight->bytes.empty() && !llvm::is_contained(weight->dims, 0))) {
      error = "the model has no data for its weight " + quoted(info.name);
      return failure();
    }
    supplied.push_back(std::make_unique<PlainWeight>());
    DLTensor view = viewOf(*weight, *supplied.back());
    if (freestone_artifact_supply_weight(artifact, info.name, &view) != FREESTONE_OK) {
      error = freestone_last_error();
      return failure();
    }
  }
  if (freestone_artifact_finish_weights(artifact, 0) == FREESTONE_OK)
    return success();
  error = freestone_last_error();
  return failure();
}

std::span<const uint8_t> bytesOf(const artifact::Object &object) {
  return {reinterpret_cast<const uint8_t *>(object.data()), object.size()};
}

} // namespace

ConstantBytes collectConstants(ArrayRef<task::ProgramOp> entries) {
  ConstantBytes constants;
  for (task::ProgramOp entry : entries)
    for (task::BufferOp buffer : entry.getBuffers())
      if (auto value = dyn_cast_or_null<DenseElementsAttr>(buffer.getValueAttr()))
        constants[*buffer.getName()] = bytesOf(value, cast<graph::TensorType>(buffer.getBuffer().getType()));
  return constants;
}

FailureOr<OwningOpRef<ModuleOp>> emitCode(ModuleOp module, const Options &options) {
  SmallVector<task::ProgramOp> entries = llvm::to_vector(module.getOps<task::ProgramOp>());
  OwningOpRef<ModuleOp> code = ModuleOp::create(module.getLoc());
  OwningOpRef<ModuleOp> entryPoints = codegen::emitEntries(entries);
  for (auto program : llvm::make_early_inc_range(module.getOps<tile::ProgramOp>()))
    program->moveBefore(code->getBody(), code->getBody()->end());
  code->push_back(entryPoints.release());
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  printPasses(passes, options.printIrTreeDir, Stretch::Code);
  passes.addPass(codegen::createEmitPrograms({options.switches.reduceShortLoops, options.switches.storeConstants}));
  if (failed(passes.run(*code)))
    return failure();
  return code;
}

FailureOr<std::vector<uint8_t>> packCode(runtime::Descriptor descriptor, ArrayRef<codegen::Object> objects,
                                         const ConstantBytes &constants, const DeviceDescription &device,
                                         std::string &error) {
  std::vector<artifact::Object> parts;
  for (const codegen::Object &object : objects)
    parts.emplace_back(object.bytes.begin(), object.bytes.end());
  FailureOr<artifact::Object> code = artifact::link(parts, error);
  if (failed(code))
    return failure();
  descriptor.producer = "freestone " FREESTONE_VERSION;
  descriptor.target = {llvm::Triple(device.triple).getArchName().str(), device.cpu, requiredFeatures(device, objects)};
  std::vector<const void *> stored;
  for (const runtime::Weight &weight : descriptor.weights) {
    auto constant = constants.find(weight.name);
    stored.push_back(constant == constants.end() ? nullptr : constant->second.data());
  }
  runtime::Result<std::vector<uint8_t>> packed = runtime::packArtifact(bytesOf(*code), descriptor, stored);
  if (packed.ok())
    return std::move(*packed);
  error = packed.status().message();
  return failure();
}

/// Runs `init` on the weights of a model. Returns the weights that it made; `artifact` owns them.
static LogicalResult packWeights(std::span<const uint8_t> code, const runtime::Descriptor &descriptor,
                                 const WeightStore &weights, std::vector<const void *> &stored,
                                 freestone_artifact *&artifact, std::string &error) {
  runtime::Result<std::vector<uint8_t>> plain = runtime::packArtifact(code, descriptor, stored);
  if (!plain.ok()) {
    error = plain.status().message();
    return failure();
  }
  if (freestone_artifact_load_memory(plain->data(), plain->size(), nullptr, &artifact) != FREESTONE_OK) {
    error = std::string("the program can't be run here to pack its weights (compile with --strip-weights to leave that "
                        "to the machine "
                        "that runs it): ") +
            freestone_last_error();
    return failure();
  }
  if (failed(makeWeights(artifact, weights, error)))
    return failure();
  for (auto [index, bytes] : llvm::enumerate(stored)) {
    size_t size = 0;
    if (!bytes && freestone_artifact_stored_weight(artifact, index, &bytes, &size) != FREESTONE_OK) {
      error = freestone_last_error();
      return failure();
    }
  }
  return success();
}

LogicalResult writePackage(ArrayRef<uint8_t> code, const ModelParts &model, StringRef path, Statistics &statistics,
                           std::string &error) {
  runtime::Result<runtime::ArtifactParts> parts = runtime::readArtifact({code.data(), code.size()});
  if (!parts.ok()) {
    error = parts.status().message();
    return failure();
  }
  runtime::Descriptor &descriptor = parts->descriptor;
  model.names.expand(descriptor);
  for (runtime::Entry &entry : descriptor.entries)
    if (entry.name == "main")
      describeSequences(model.sequences, entry);
  descriptor.modelName = llvm::sys::path::stem(model.modelPath).str();

  std::vector<const void *> stored(descriptor.weights.size());
  bool anyMade = false;
  for (auto [weight, bytes] : llvm::zip_equal(descriptor.weights, stored)) {
    const Weight *plain = model.weights.find(weight.name);
    if (weight.fileOffset >= 0) {
      bytes = code.data() + weight.fileOffset;
    } else if (plain && model.stripWeights) {
      // Supplied unpacked, under the model's name.
      weight.shape = plain->dims;
    } else if (plain) {
      if (static_cast<int64_t>(plain->bytes.size()) != weight.bytes) {
        error = "the model has no data for its weight " + quoted(weight.name);
        return failure();
      }
      bytes = plain->bytes.data();
    } else {
      anyMade = true;
    }
    if (!model.stripWeights)
      statistics.weightBytes += weight.bytes;
  }
  for (const auto &[name, bytes] : model.attachments) {
    runtime::Weight &weight = descriptor.weights.emplace_back();
    weight.name = runtime::attachmentPrefix + name;
    weight.dtype = runtime::DType::u8;
    weight.bytes = bytes.size();
    weight.shape = {weight.bytes};
    stored.push_back(bytes.data());
    if (!model.stripWeights)
      statistics.weightBytes += weight.bytes;
  }

  freestone_artifact *artifact = nullptr;
  llvm::scope_exit release([&] { freestone_artifact_release(artifact); });
  if (anyMade && !model.stripWeights &&
      failed(packWeights(parts->code, descriptor, model.weights, stored, artifact, error)))
    return failure();
  runtime::Status written = runtime::writeArtifact(path.str(), parts->code, descriptor, stored);
  if (!written.ok()) {
    error = written.message();
    return failure();
  }
  for (const auto &[name, count] : descriptor.statistics)
    statistics.counters[name] = count;
  statistics.codeBytes = parts->code.size();
  uint64_t size = 0;
  if (!llvm::sys::fs::file_size(path, size))
    statistics.fileBytes = size;
  return success();
}

} // namespace freestone::driver

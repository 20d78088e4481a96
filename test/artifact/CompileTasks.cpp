#include "test/artifact/CompileTasks.h"

#include "compiler/artifact/BuildDescriptor.h"
#include "compiler/artifact/Link.h"
#include "compiler/codegen/cpu/EmitEntries.h"
#include "compiler/codegen/cpu/LowerToObject.h"
#include "compiler/dialect/graph/GraphDialect.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/task/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/artifact/ArtifactFile.h"

using namespace mlir;
using namespace freestone;

namespace {

template <typename T> T expect(FailureOr<T> result, const std::string &what) {
  if (succeeded(result))
    return std::move(*result);
  llvm::errs() << what << '\n';
  abort();
}

} // namespace

std::vector<uint8_t> test::compileTasks(const std::string &text, const Weights &weights) {
  MLIRContext context;
  context.loadDialect<task::TaskDialect, tile::TileDialect, graph::GraphDialect, func::FuncDialect, arith::ArithDialect,
                      scf::SCFDialect, LLVM::LLVMDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  PassManager passes(&context);
  passes.addNestedPass<task::ProgramOp>(task::createOrderPhases());
  passes.addNestedPass<task::ProgramOp>(task::createPlanMemory());
  if (!module || failed(passes.run(*module)))
    abort();

  SmallVector<task::ProgramOp> entries = llvm::to_vector(module->getOps<task::ProgramOp>());
  runtime::Descriptor descriptor = artifact::buildDescriptor(entries);
  descriptor.target = {"x86_64", "x86-64-v3", {"avx2", "fma"}};
  if (auto sites = (*module)->getAttrOfType<ArrayAttr>("task.sites"))
    for (auto site : sites.getAsRange<StringAttr>())
      descriptor.sites.push_back(site.str());

  OwningOpRef<ModuleOp> code = ModuleOp::create(module->getLoc());
  for (auto programs : llvm::make_early_inc_range(module->getOps<ModuleOp>()))
    programs->moveBefore(code->getBody(), code->getBody()->end());
  code->push_back(codegen::emitEntries(entries).release());
  DeviceDescription device = llvm::cantFail(DeviceDescription::get("x86-64-v3"));
  std::vector<codegen::Object> compiled =
      expect(codegen::lowerToObjects(*code, device), "the programs can't be compiled");
  std::vector<artifact::Object> objects;
  for (const codegen::Object &object : compiled)
    objects.emplace_back(object.bytes.begin(), object.bytes.end());
  std::string error;
  FailureOr<artifact::Object> linked = artifact::link(objects, error);
  artifact::Object library = expect(std::move(linked), error);

  std::vector<const void *> data;
  for (const runtime::Weight &weight : descriptor.weights) {
    auto found = weights.find(weight.name);
    data.push_back(found == weights.end() ? nullptr : found->second.data());
  }
  auto bytes =
      runtime::packArtifact({reinterpret_cast<const uint8_t *>(library.data()), library.size()}, descriptor, data);
  if (!bytes.ok()) {
    llvm::errs() << bytes.status().message() << '\n';
    abort();
  }
  return std::move(*bytes);
}

#include "test/codegen/ProgramRunner.h"

#include "compiler/codegen/cpu/LowerToObject.h"
#include "compiler/codegen/cpu/Passes.h"
#include "compiler/dialect/tile/TileDialect.h"
#include "compiler/tile/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/artifact/abi.h"
#include <chrono>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace freestone;
using namespace freestone::test;
using sym::Expr;

GuardedMemory::GuardedMemory(size_t bytes) : bytes(bytes) {
  size_t page = sysconf(_SC_PAGESIZE);
  size_t inner = (bytes + page - 1) / page * page;
  mapped = inner + 2 * page;
  map = static_cast<char *>(mmap(nullptr, mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(map + page, inner, PROT_READ | PROT_WRITE);
  data = map + page + inner - bytes;
}

GuardedMemory &GuardedMemory::operator=(GuardedMemory &&other) {
  std::swap(map, other.map);
  std::swap(data, other.data);
  std::swap(mapped, other.mapped);
  std::swap(bytes, other.bytes);
  return *this;
}

GuardedMemory::~GuardedMemory() {
  if (map)
    munmap(map, mapped);
}

namespace {

using Function = void (*)(void **, const int64_t *, int64_t, int64_t, char *);

struct Compiled {
  Function function;
  std::vector<std::string> symbols;
  Expr tiles, scratch;
  /// Of the last run.
  std::vector<int64_t> sizes = {-1};
  int64_t tileCount = 0;
  size_t scratchBytes = 0;
};

} // namespace

struct ProgramRunner::State {
  MLIRContext context;
  std::optional<LoadedObjects> loaded;
  std::map<std::string, Compiled> programs;
  GuardedMemory scratch{64};
};

static int64_t evaluate(Expr expr, const Compiled &program, const std::vector<int64_t> &sizes) {
  auto valueOf = [&](StringRef name) -> std::optional<int64_t> {
    auto found = llvm::find(program.symbols, name);
    return sizes[found - program.symbols.begin()];
  };
  return expr.evaluate(valueOf).value();
}

ProgramRunner::ProgramRunner(const std::string &text, const std::string &target) : state(std::make_unique<State>()) {
  auto start = std::chrono::steady_clock::now();
  MLIRContext &context = state->context;
  context.loadDialect<tile::TileDialect, graph::GraphDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      memref::MemRefDialect>();
  ScopedDiagnosticHandler diagnostics(&context, [&](Diagnostic &diagnostic) { why += diagnostic.str() + "\n"; });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  llvm::Expected<DeviceDescription> device = DeviceDescription::get(target);
  if (!module || !device) {
    why += device ? "" : llvm::toString(device.takeError());
    return;
  }
  PassManager tiling(&context);
  tiling.addPass(tile::createChooseTiles({target}));
  if (failed(tiling.run(*module)))
    return;
  for (auto program : module->getOps<tile::ProgramOp>()) {
    Compiled &compiled = state->programs[program.getSymName().str()];
    for (StringAttr symbol : program.getSymbols())
      compiled.symbols.push_back(symbol.str());
    compiled.tiles = program.getPlan()->getTiles();
    compiled.scratch = program.getPlan()->getScratch();
  }
  PassManager emit(&context);
  emit.addPass(codegen::createEmitPrograms());
  if (failed(emit.run(*module)))
    return;
  if (getenv("FREESTONE_TEST_PRINT"))
    module->dump();
  FailureOr<std::vector<codegen::Object>> objects = codegen::lowerToObjects(*module, *device);
  if (failed(objects))
    return;
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  llvm::Expected<LoadedObjects> loaded = LoadedObjects::load(*objects, *device);
  if (!loaded) {
    why += llvm::toString(loaded.takeError());
    return;
  }
  state->loaded = std::move(*loaded);
  for (auto &[name, compiled] : state->programs) {
    llvm::Expected<void *> address = state->loaded->find(name);
    if (!address) {
      why += llvm::toString(address.takeError());
      return;
    }
    compiled.function = reinterpret_cast<Function>(*address);
  }
}

ProgramRunner::~ProgramRunner() = default;

int64_t ProgramRunner::getTiles(const std::string &name, const std::vector<int64_t> &sizes) const {
  const Compiled &program = state->programs.at(name);
  return evaluate(program.tiles, program, sizes);
}

int64_t ProgramRunner::run(const std::string &name, const std::vector<void *> &buffers,
                           const std::vector<int64_t> &sizes, int64_t calls) const {
  Compiled &program = state->programs.at(name);
  if (program.sizes != sizes) {
    program.sizes = sizes;
    program.tileCount = evaluate(program.tiles, program, sizes);
    program.scratchBytes = (FREESTONE_SCRATCH_HEADER + evaluate(program.scratch, program, sizes) + 63) / 64 * 64;
  }
  int64_t tiles = program.tileCount;
  size_t bytes = program.scratchBytes;
  GuardedMemory &scratch = state->scratch;
  if (scratch.size() != bytes)
    scratch = GuardedMemory(bytes);
  *scratch.as<int64_t>() = 0;
  std::vector<void *> addresses = buffers;
  for (int64_t call = 0; call < calls; ++call)
    program.function(addresses.data(), sizes.data(), tiles * call / calls, tiles * (call + 1) / calls,
                     scratch.as<char>());
  return *scratch.as<int64_t>();
}

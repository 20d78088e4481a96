#include "compiler/driver/ScalarWork.h"

#include "compiler/plan/ScalarWork.h"
#include "compiler/tile/Cost.h"
#include "compiler/tile/HoistWeights.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace freestone::driver {

static std::string describe(graph::TensorType type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << type.getElementType() << "[";
  llvm::interleaveComma(type.getShape(), stream);
  stream << "]";
  return text;
}

ScalarWork collectScalarWork(ModuleOp module) {
  ScalarWork collected;
  SymbolTable symbols(module);
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.getSymName() == tile::initName || function.getSymName() == tile::packName)
      continue;
    tile::TypicalSizes typical(function);
    int64_t calls = tile::countTypicalCalls(function);
    function.walk([&](tile::CallOp call) {
      auto program = symbols.lookup<tile::ProgramOp>(call.getCallee());
      tile::Work work = tile::countWork(program);
      llvm::StringMap<sym::Expr> sizes;
      for (auto [symbol, size] : llvm::zip_equal(program.getSymbols(), call.getSizes()))
        sizes[symbol.getValue()] = size;
      auto evaluate = [&](sym::Expr operations) {
        return calls * operations
                           .evaluate([&](StringRef symbol) -> std::optional<int64_t> {
                             return typical.evaluate(sizes.lookup(symbol));
                           })
                           .value_or(0);
      };
      int64_t operations = evaluate(work.operations), scalar = evaluate(work.scalar);
      collected.operations += operations;
      collected.scalar += scalar;
      if (!scalar)
        return;
      auto node = call->getLoc()->findInstanceOf<NameLoc>();
      collected.programs.push_back({call.getCallee().str(), node ? node.getName().str() : "",
                                    describe(cast<graph::TensorType>(call.getResult(0).getType())), operations, scalar,
                                    tile::explainScalarWork(program).str()});
    });
  }
  return collected;
}

std::vector<ScalarProgram> ScalarWork::findSlow() const {
  // About the fixed cost of a run.
  constexpr int64_t leastOperations = 1 << 15;
  // Vector code and micro-kernels are some twenty times as fast as scalar code.
  constexpr int64_t leastShare = 20;
  llvm::MapVector<StringRef, ScalarProgram> nodes;
  for (const ScalarProgram &program : programs) {
    auto [known, isNew] = nodes.try_emplace(StringRef(program.node.empty() ? program.program : program.node), program);
    if (isNew)
      continue;
    known->second.operations += program.operations;
    known->second.scalar += program.scalar;
  }
  std::vector<ScalarProgram> slow;
  for (const auto &[name, node] : nodes)
    if (node.scalar >= leastOperations && node.scalar >= operations / leastShare)
      slow.push_back(node);
  return slow;
}

llvm::json::Value ScalarWork::toJson() const {
  llvm::json::Array array;
  for (const ScalarProgram &program : programs)
    array.push_back(llvm::json::Object{{"program", program.program},
                                       {"node", program.node},
                                       {"shape", program.shape},
                                       {"operations", program.operations},
                                       {"scalar", program.scalar},
                                       {"why", program.why}});
  return llvm::json::Object{{"operations", operations}, {"scalar", scalar}, {"programs", std::move(array)}};
}

ScalarWork ScalarWork::fromJson(const llvm::json::Value &value) {
  ScalarWork work;
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return work;
  work.operations = object->getInteger("operations").value_or(0);
  work.scalar = object->getInteger("scalar").value_or(0);
  const llvm::json::Array *programs = object->getArray("programs");
  for (const llvm::json::Value &entry : programs ? *programs : llvm::json::Array())
    if (const llvm::json::Object *program = entry.getAsObject()) {
      auto text = [&](StringRef key) { return program->getString(key).value_or("").str(); };
      work.programs.push_back({text("program"), text("node"), text("shape"),
                               program->getInteger("operations").value_or(0), program->getInteger("scalar").value_or(0),
                               text("why")});
    }
  return work;
}

} // namespace freestone::driver

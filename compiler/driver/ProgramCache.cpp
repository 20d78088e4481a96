#include "compiler/driver/ProgramCache.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace freestone;
using namespace freestone::driver;

/// Without locations and attribute aliases, which depend on the rest of the module.
static std::string print(Operation *operation) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  operation->print(stream, OpPrintingFlags().useLocalScope());
  return text;
}

std::string driver::describeProgram(tile::ProgramOp program) {
  std::string name = program.getSymName().str();
  program.setSymName("program");
  std::string text = print(program);
  program.setSymName(name);
  return text;
}

void ProgramCache::describe(ModuleOp module) {
  if (compiler.empty())
    return;
  for (auto program : module.getOps<tile::ProgramOp>())
    texts[program.getSymName()] = describeProgram(program);
}

cache::Ingredients driver::describeDevice(const std::string &compiler, const DeviceDescription &device) {
  cache::Ingredients ingredients;
  ingredients.add("compiler", compiler);
  ingredients.add("device", device.toJson());
  return ingredients;
}

cache::Ingredients ProgramCache::nameProgram(ModuleOp code, ModuleOp module, const cache::Ingredients &device) {
  std::string name = module.getName().value_or("").str();
  auto text = texts.find(name);
  auto rename = [&](ModuleOp within, StringRef from, const std::string &to) {
    SymbolTable symbols(within);
    if (Operation *symbol = symbols.lookup(from))
      return symbols.rename(symbol, to);
    return success();
  };
  cache::Ingredients ingredients = device;
  if (text == texts.end()) {
    // Names of kernels shared by programs, and of the artifact's own entry points.
    ingredients.add("program", name);
    ingredients.add("code", cache::hashOf(print(module)));
    ingredients.add("copy", "0");
    return ingredients;
  }
  module.setName("program");
  (void)rename(module, name, "program");
  std::string hash = cache::hashOf(print(module));
  ingredients.add("program", text->second);
  ingredients.add("code", hash);
  // Equal programs that are not shared need distinct names within one artifact.
  ingredients.add("copy", std::to_string(timesNamed[hash]++));
  std::string own = "program_" + ingredients.key();
  (void)rename(module, "program", own);
  for (ModuleOp other : code.getOps<ModuleOp>())
    if (other != module)
      (void)rename(other, name, own);
  return ingredients;
}

FailureOr<std::vector<codegen::Object>> ProgramCache::lower(ModuleOp code, const DeviceDescription &device,
                                                            llvm::function_ref<void(size_t done, size_t total)> report,
                                                            StringRef printIrTreeDir) {
  SmallVector<ModuleOp> modules = llvm::to_vector(code.getOps<ModuleOp>());
  if (compiler.empty()) {
    compiled = modules.size();
    return codegen::lowerToObjects(code, device, report, printIrTreeDir);
  }
  // Rates decide plans, and plans are part of a program's text: they decide nothing about its code beyond that.
  DeviceDescription unmeasured = device;
  unmeasured.rates = {};
  cache::Ingredients common = describeDevice(compiler, unmeasured);
  std::vector<codegen::Object> objects(modules.size());
  std::vector<std::pair<size_t, cache::Ingredients>> missing;
  OwningOpRef<ModuleOp> rest = ModuleOp::create(code.getLoc());
  // Entry points come after all programs, whose names they refer to.
  for (auto [index, module] : llvm::enumerate(modules)) {
    cache::Ingredients ingredients = nameProgram(code, module, common);
    std::string about;
    codegen::Object &object = objects[index];
    std::optional<std::string> bytes = store.find(cache::Kind::Program, ingredients, &about);
    auto [loops, constants] = StringRef(about).split(' ');
    if (bytes && !loops.getAsInteger(10, object.counts.unreducedLoops) &&
        !constants.getAsInteger(10, object.counts.storedConstants)) {
      object.name = module.getName().value_or("").str();
      object.bytes.assign(bytes->begin(), bytes->end());
    } else {
      missing.emplace_back(index, std::move(ingredients));
      module->moveBefore(rest->getBody(), rest->getBody()->end());
    }
  }
  found = modules.size() - missing.size();
  compiled = missing.size();
  if (missing.empty())
    return objects;
  FailureOr<std::vector<codegen::Object>> made = codegen::lowerToObjects(*rest, device, report, printIrTreeDir);
  if (failed(made))
    return failure();
  for (auto &&[place, object] : llvm::zip_equal(missing, *made)) {
    store.keep(cache::Kind::Program, place.second, StringRef(object.bytes.data(), object.bytes.size()),
               std::to_string(object.counts.unreducedLoops) + " " + std::to_string(object.counts.storedConstants));
    objects[place.first] = std::move(object);
  }
  return objects;
}

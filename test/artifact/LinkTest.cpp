// The properties of linked artifacts: no dependencies, whatever functions LLVM's code generator calls.
#include "compiler/artifact/Link.h"
#include "compiler/codegen/cpu/LowerToObject.h"
#include "compiler/codegen/cpu/TargetMachine.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace freestone;

namespace {

struct ScalarType {
  std::string name, mangled;
  int bits;
};

const ScalarType floatTypes[] = {
    {"half", "f16", 16}, {"bfloat", "bf16", 16}, {"float", "f32", 32}, {"double", "f64", 64}};
const ScalarType integerTypes[] = {
    {"i1", "i1", 1}, {"i8", "i8", 8}, {"i16", "i16", 16}, {"i32", "i32", 32}, {"i64", "i64", 64}};

/// LLVM IR with a function for each operation on scalars or vectors, and a table that keeps them all alive.
class OperationModule {
public:
  void addOperationsOn(int lanes);
  void addMemoryFunctions();
  std::string getText() const {
    std::string table;
    for (int i = 0; i < functions; ++i)
      table += (i ? ", ptr @f" : "ptr @f") + std::to_string(i);
    return declarations + definitions + "@freestone_table = constant [" + std::to_string(functions) + " x ptr] [" +
           table + "]\n";
  }

private:
  std::string type(const ScalarType &scalar) const {
    return lanes == 1 ? scalar.name : "<" + std::to_string(lanes) + " x " + scalar.name + ">";
  }
  std::string mangled(const ScalarType &scalar) const {
    return lanes == 1 ? scalar.mangled : "v" + std::to_string(lanes) + scalar.mangled;
  }

  void addFunction(const std::string &result, const std::string &parameters, const std::string &value) {
    definitions += "define " + result + " @f" + std::to_string(functions++) + "(" + parameters +
                   ") {\n  %r = " + value + "\n  ret " + result + " %r\n}\n";
  }
  void addCast(const char *op, const ScalarType &from, const ScalarType &to) {
    addFunction(type(to), type(from) + " %x", op + (" " + type(from)) + " %x to " + type(to));
  }
  void addBinary(const char *op, const ScalarType &of) {
    addFunction(type(of), type(of) + " %x, " + type(of) + " %y", op + (" " + type(of)) + " %x, %y");
  }
  void addIntrinsic(const std::string &name, const ScalarType &result, const ScalarType &operand, int count,
                    const std::string &suffix) {
    std::string types, parameters;
    for (int i = 0; i < count; ++i) {
      types += (i ? ", " : "") + type(operand);
      parameters += (i ? ", " : "") + type(operand) + " %x" + std::to_string(i);
    }
    declarations += "declare " + type(result) + " @llvm." + name + suffix + "(" + types + ")\n";
    addFunction(type(result), parameters, "call " + type(result) + " @llvm." + name + suffix + "(" + parameters + ")");
  }

  int lanes = 1, functions = 0;
  std::string declarations, definitions;
};

void OperationModule::addOperationsOn(int laneCount) {
  lanes = laneCount;
  for (const ScalarType &real : floatTypes) {
    for (const ScalarType &other : floatTypes) {
      if (real.bits > other.bits)
        addCast("fptrunc", real, other);
      if (real.bits < other.bits)
        addCast("fpext", real, other);
    }
    for (const char *op : {"fadd", "fsub", "fmul", "fdiv", "frem"})
      addBinary(op, real);
    for (const char *name : {"fabs", "sqrt", "floor", "ceil", "trunc", "rint", "nearbyint", "round", "roundeven"})
      addIntrinsic(name, real, real, 1, "." + mangled(real));
    for (const char *name : {"copysign", "minnum", "maxnum", "minimum", "maximum", "minimumnum", "maximumnum"})
      addIntrinsic(name, real, real, 2, "." + mangled(real));
    for (const char *name : {"fma", "fmuladd"})
      addIntrinsic(name, real, real, 3, "." + mangled(real));
    for (const ScalarType &integer : integerTypes) {
      for (const char *op : {"fptosi", "fptoui"})
        addCast(op, real, integer);
      for (const char *op : {"sitofp", "uitofp"})
        addCast(op, integer, real);
      for (const char *name : {"fptosi.sat", "fptoui.sat"})
        addIntrinsic(name, integer, real, 1, "." + mangled(integer) + "." + mangled(real));
    }
  }
  for (const ScalarType &integer : ArrayRef(integerTypes).drop_front()) {
    for (const char *op : {"mul", "sdiv", "udiv", "srem", "urem", "shl", "lshr", "ashr"})
      addBinary(op, integer);
    addIntrinsic("ctpop", integer, integer, 1, "." + mangled(integer));
  }
}

void OperationModule::addMemoryFunctions() {
  declarations += "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)\n"
                  "declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)\n"
                  "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n";
  for (const char *call :
       {"memcpy.p0.p0.i64(ptr %a, ptr %b, i64 %n, i1 false)", "memmove.p0.p0.i64(ptr %a, ptr %b, i64 %n, i1 false)",
        "memset.p0.i64(ptr %a, i8 0, i64 %n, i1 false)"})
    definitions += "define void @f" + std::to_string(functions++) + "(ptr %a, ptr %b, i64 %n) {\n  call void @llvm." +
                   call + "\n  ret void\n}\n";
}

artifact::Object compile(const std::string &text, StringRef target) {
  LLVMContext context;
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseAssemblyString(text, diagnostic, context);
  if (!module) {
    ADD_FAILURE() << diagnostic.getMessage().str() << ": " << diagnostic.getLineContents().str();
    return {};
  }
  DeviceDescription device = cantFail(DeviceDescription::get(target));
  module->setTargetTriple(Triple(device.triple));
  for (Function &function : *module) {
    function.addFnAttr("target-cpu", device.cpu);
    function.addFnAttr("target-features", device.features);
  }
  FailureOr<codegen::Object> object = codegen::emitObject(*module, *codegen::createTargetMachine(device));
  EXPECT_TRUE(succeeded(object));
  return artifact::Object(object->bytes.begin(), object->bytes.end());
}

TEST(Link, ResolvesWhateverLLVMCalls) {
  for (StringRef target : {"x86-64-v3", "x86-64-v4"}) {
    for (int lanes : {1, 4, 8, 16}) {
      OperationModule operations;
      operations.addOperationsOn(lanes);
      operations.addMemoryFunctions();
      std::string error;
      FailureOr<artifact::Object> linked = artifact::link({compile(operations.getText(), target)}, error);
      EXPECT_TRUE(succeeded(linked)) << lanes << " lanes on " << target.str() << ": " << error;
    }
  }
}

TEST(Link, SaysWhatIsMissing) {
  std::string error;
  artifact::Object object =
      compile("declare void @absent()\n@freestone_table = constant [1 x ptr] [ptr @absent]\n", "x86-64-v3");
  EXPECT_TRUE(failed(artifact::link({object}, error)));
  EXPECT_NE(error.find("absent"), std::string::npos) << error;
  EXPECT_TRUE(failed(artifact::link({artifact::Object{'n', 'o'}}, error)));
  // After a failure the next link succeeds.
  EXPECT_TRUE(succeeded(artifact::link({compile("@freestone_table = constant i64 1\n", "x86-64-v3")}, error))) << error;
}

TEST(Link, NeedsNoFolder) {
  setenv("TMPDIR", "/none", 1);
  std::string error;
  EXPECT_TRUE(succeeded(artifact::link({compile("@freestone_table = constant i64 1\n", "x86-64-v3")}, error))) << error;
  unsetenv("TMPDIR");
}

TEST(Link, ExportsTheTableAlone) {
  std::string text = "define double @used(double %x) {\n  %r = frem double %x, 3.0\n  ret double %r\n}\n"
                     "@freestone_table = constant [1 x ptr] [ptr @used]\n";
  std::string error;
  FailureOr<artifact::Object> linked = artifact::link({compile(text, "x86-64-v3")}, error);
  ASSERT_TRUE(succeeded(linked)) << error;
  // Only the used builtins were linked.
  EXPECT_LT(linked->size(), 4096u * 4);
  auto file = cantFail(
      object::ObjectFile::createELFObjectFile(MemoryBufferRef(StringRef(linked->data(), linked->size()), "program")));
  auto &elf = cast<object::ELF64LEObjectFile>(*file);
  std::vector<std::string> symbols;
  for (const object::ELFSymbolRef &symbol : elf.getDynamicSymbolIterators())
    symbols.push_back(cantFail(symbol.getName()).str());
  EXPECT_EQ(symbols, std::vector<std::string>{"freestone_table"});

  bool hasRelro = false;
  uint64_t writable = 0;
  for (const auto &segment : cantFail(elf.getELFFile().program_headers())) {
    EXPECT_NE(segment.p_type, ELF::PT_TLS);
    EXPECT_NE(segment.p_type, ELF::PT_INTERP);
    if (segment.p_type == ELF::PT_GNU_RELRO)
      hasRelro = true;
    if (segment.p_type == ELF::PT_LOAD && (segment.p_flags & ELF::PF_W))
      ++writable;
  }
  // Relocated constants, which the loader makes read-only again.
  EXPECT_TRUE(hasRelro);
  EXPECT_LE(writable, 1u);
  for (const object::SectionRef &section : elf.sections()) {
    StringRef name = cantFail(section.getName());
    EXPECT_TRUE(name != ".data" && name != ".bss" && name != ".init_array" && name != ".tdata") << name.str();
  }
}

} // namespace

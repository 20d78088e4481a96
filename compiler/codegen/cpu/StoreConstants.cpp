#include "compiler/codegen/cpu/StoreConstants.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace freestone;

/// Constants that a function keeps in registers beside others in memory, and that a loop has in registers without need
/// of those of other loops.
static constexpr size_t mostKept = 4;

/// Registers that the values of a chain of operations need beside its constants: a block of sums needs more.
static constexpr size_t ofValues = 4;

namespace {

using Operands = llvm::SmallVector<llvm::Use *>;
using UsesOfConstants = llvm::MapVector<llvm::Constant *, Operands>;

/// The vectors of constants of a module.
class ConstantStore {
public:
  ConstantStore(llvm::Module &module, unsigned vectorBytes, unsigned vectorRegisters)
      : module(module), vectorBytes(vectorBytes), vectorRegisters(vectorRegisters) {}

  int64_t store(llvm::Function &function);

private:
  bool isBroadcast(const llvm::Value *operand) const;
  UsesOfConstants findUses(llvm::Function &function, const llvm::LoopInfo &loops) const;
  llvm::GlobalVariable *getMemory(llvm::Constant *constant);

  llvm::Module &module;
  unsigned vectorBytes, vectorRegisters;
  llvm::DenseMap<llvm::Constant *, llvm::GlobalVariable *> stored;
};

} // namespace

/// Whether instructions of the processor take operands from memory.
static bool mayReadMemory(const llvm::Instruction &user) {
  return !user.isShift() && llvm::isa<llvm::BinaryOperator, llvm::CmpInst, llvm::SelectInst, llvm::IntrinsicInst>(user);
}

/// Whether it is a whole vector of equal elements, other than zeros or ones, which an instruction makes of nothing.
bool ConstantStore::isBroadcast(const llvm::Value *operand) const {
  auto *constant = llvm::dyn_cast<llvm::Constant>(operand);
  return constant && llvm::isa<llvm::FixedVectorType>(constant->getType()) &&
         constant->getType()->getPrimitiveSizeInBits() == vectorBytes * 8 && constant->getSplatValue() &&
         !constant->isZeroValue() && !constant->isAllOnesValue();
}

UsesOfConstants ConstantStore::findUses(llvm::Function &function, const llvm::LoopInfo &loops) const {
  UsesOfConstants uses;
  for (llvm::BasicBlock &block : function)
    for (llvm::Instruction &user : block)
      if (loops.getLoopFor(&block) && mayReadMemory(user))
        for (llvm::Use &operand : user.operands())
          if (isBroadcast(operand))
            uses[llvm::cast<llvm::Constant>(operand)].push_back(&operand);
  return uses;
}

static const llvm::BasicBlock *getBlock(const llvm::Use *operand) {
  return llvm::cast<llvm::Instruction>(operand->getUser())->getParent();
}

/// The innermost loops with more constants than `mostKept`.
static int64_t countLoops(const UsesOfConstants &uses, const llvm::LoopInfo &loops) {
  llvm::SmallDenseMap<const llvm::Loop *, size_t> counts;
  for (auto &[constant, operands] : uses) {
    llvm::SmallPtrSet<const llvm::Loop *, 4> users;
    for (const llvm::Use *operand : operands)
      users.insert(loops.getLoopFor(getBlock(operand)));
    for (const llvm::Loop *loop : users)
      counts[loop] += loop->isInnermost();
  }
  return llvm::count_if(counts, [](auto &ofLoop) { return ofLoop.second > mostKept; });
}

llvm::GlobalVariable *ConstantStore::getMemory(llvm::Constant *constant) {
  llvm::GlobalVariable *&memory = stored[constant];
  if (!memory) {
    memory = new llvm::GlobalVariable(module, constant->getType(), /*isConstant=*/true,
                                      llvm::GlobalValue::PrivateLinkage, constant, "constant");
    memory->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
    memory->setAlignment(llvm::Align(vectorBytes));
  }
  return memory;
}

int64_t ConstantStore::store(llvm::Function &function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  UsesOfConstants uses = findUses(function, loops);
  if (uses.size() <= mostKept || (uses.size() + ofValues <= vectorRegisters && countLoops(uses, loops) < 2))
    return 0;
  auto constants = uses.takeVector();
  llvm::stable_sort(constants, [](auto &lhs, auto &rhs) { return lhs.second.size() > rhs.second.size(); });
  for (auto &[constant, operands] : llvm::drop_begin(constants, mostKept))
    for (llvm::Use *operand : operands) {
      llvm::IRBuilder<> builder(llvm::cast<llvm::Instruction>(operand->getUser()));
      operand->set(builder.CreateAlignedLoad(constant->getType(), getMemory(constant), llvm::Align(vectorBytes)));
    }
  return int64_t(constants.size() - mostKept);
}

int64_t codegen::storeConstants(llvm::Module &module, unsigned vectorBytes, unsigned vectorRegisters) {
  ConstantStore store(module, vectorBytes, vectorRegisters);
  int64_t count = 0;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      count += store.store(function);
  return count;
}

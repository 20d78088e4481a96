#include "compiler/builtins/Builtins.h"

static constexpr unsigned char object[] = {
#include "compiler/builtins/BuiltinsObject.inc"
};

llvm::ArrayRef<char> freestone::getBuiltinsObject() { return {reinterpret_cast<const char *>(object), sizeof(object)}; }

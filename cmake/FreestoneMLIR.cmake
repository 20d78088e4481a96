# Finds MLIR, LLVM and lld 22 and offers
#   freestone_mlir         the shared libMLIR and libLLVM, their headers, and the flags that they ask for
#   freestone_precompiled  MLIR's most used headers, parsed once for all rooms (12 s, and 2 to 6 s less for every file)

# LLVM's version files accept only an exact minor version, so the major one is compared here.
find_package(MLIR CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT MLIR_FOUND OR NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "The compiler needs MLIR 22 (found: ${LLVM_VERSION}); install libmlir-22-dev and mlir-22-tools, or set "
                      "MLIR_DIR, or build only the runtime with -DFREESTONE_COMPILER=OFF.")
endif()
find_package(ZLIB REQUIRED)
if(NOT TARGET zstd::libzstd_shared)
  find_library(ZSTD_LIBRARY zstd REQUIRED)
  add_library(zstd::libzstd_shared SHARED IMPORTED)
  set_target_properties(zstd::libzstd_shared PROPERTIES IMPORTED_LOCATION ${ZSTD_LIBRARY})
endif()
find_package(LLD REQUIRED CONFIG HINTS ${LLVM_DIR}/../lld)

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_library(freestone_mlir INTERFACE)
target_include_directories(freestone_mlir SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_compile_options(freestone_mlir INTERFACE -fno-rtti -fno-exceptions)
target_link_libraries(freestone_mlir INTERFACE MLIR LLVM)

file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cpp CONTENT "")
add_library(freestone_precompiled OBJECT ${CMAKE_BINARY_DIR}/precompiled.cpp)
target_link_libraries(freestone_precompiled PRIVATE freestone_mlir)
freestone_precompile(freestone_precompiled
  <llvm/ADT/DenseMap.h>
  <llvm/ADT/STLExtras.h>
  <llvm/ADT/SmallVector.h>
  <llvm/ADT/StringRef.h>
  <llvm/ADT/TypeSwitch.h>
  <llvm/Support/Debug.h>
  <llvm/Support/raw_ostream.h>
  <mlir/Dialect/Arith/IR/Arith.h>
  <mlir/Dialect/Func/IR/FuncOps.h>
  <mlir/Dialect/LLVMIR/LLVMDialect.h>
  <mlir/Dialect/Linalg/IR/Linalg.h>
  <mlir/Dialect/Math/IR/Math.h>
  <mlir/Dialect/MemRef/IR/MemRef.h>
  <mlir/Dialect/SCF/IR/SCF.h>
  <mlir/Dialect/Tensor/IR/Tensor.h>
  <mlir/Dialect/Vector/IR/VectorOps.h>
  <mlir/IR/Builders.h>
  <mlir/IR/BuiltinAttributes.h>
  <mlir/IR/BuiltinOps.h>
  <mlir/IR/BuiltinTypes.h>
  <mlir/IR/Dialect.h>
  <mlir/IR/DialectImplementation.h>
  <mlir/IR/OpImplementation.h>
  <mlir/IR/PatternMatch.h>
  <mlir/Pass/Pass.h>
  <mlir/Transforms/DialectConversion.h>)

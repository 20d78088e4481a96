# Finds MLIR, LLVM and lld 22 and offers them as one target, `freestone_mlir`: the shared libMLIR and libLLVM with their headers.
# LLVM's version files accept only an exact minor version, so the major one is compared here.
find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "Freestone needs MLIR 22, but ${MLIR_DIR} is ${LLVM_VERSION}; set MLIR_DIR to another one.")
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

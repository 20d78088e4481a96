option(FREESTONE_COMPILER "Build the compiler (needs MLIR 22); without it only what runs artifacts is built" ON)
option(FREESTONE_TOOLS "Build the command-line tools" ON)
option(FREESTONE_TESTS "Build the tests (needs GoogleTest; with the compiler also lit)" ON)
option(FREESTONE_UNITY "Compile eight files of a library at once, which halves the work of building everything" ON)
set(FREESTONE_PYTHON ${CMAKE_BINARY_DIR}/venv/bin/python CACHE FILEPATH
    "Python with the packages of test/requirements.txt, as scripts/test makes it")
set(FREESTONE_SANITIZE "" CACHE STRING "Sanitizers for every target: address, undefined, thread")
option(FREESTONE_FUZZERS "Build the fuzzers, and what they link with coverage (needs clang)" OFF)
set(FREESTONE_PYTHON_PACKAGE AUTO CACHE STRING "Build the Python package: ON, OFF, or AUTO, if FREESTONE_PYTHON has nanobind")
cmake_path(GET FREESTONE_PYTHON PARENT_PATH environment)
file(GLOB FREESTONE_NANOBIND CONFIGURE_DEPENDS ${environment}/../lib/python3*/site-packages/nanobind/cmake)
if(NOT FREESTONE_PYTHON_PACKAGE STREQUAL AUTO)
  set(isPythonBuilt ${FREESTONE_PYTHON_PACKAGE})
elseif(FREESTONE_NANOBIND AND NOT FREESTONE_SANITIZE)
  set(isPythonBuilt ON)
endif()

# Suffix of the files and folders that are specific to the architecture.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  set(FREESTONE_ARCHITECTURE X86)
else()
  message(FATAL_ERROR "Freestone knows x86-64 alone; ${CMAKE_SYSTEM_PROCESSOR} needs a folder in runtime/machine and a file in "
                      "compiler/device.")
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

# Small batches: a change of one file takes seconds to compile, and there are enough batches for many cores.
set(CMAKE_UNITY_BUILD ${FREESTONE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache reuses precompiled headers only if time stamps and macros are left out of its key.
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
               ${CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

# Fields that are left out have their defaults; std::stable_sort of libstdc++ calls a function that C++ deprecates.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Wno-deprecated-declarations
                    -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(FREESTONE_SANITIZE)
  add_compile_options(-fsanitize=${FREESTONE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${FREESTONE_SANITIZE})
endif()
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include ${CMAKE_BINARY_DIR})

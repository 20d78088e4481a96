# freestone_add_rooms(folder…): adds each of these folders that has a CMakeLists.txt.
function(freestone_add_rooms)
  foreach(room IN LISTS ARGN)
    file(GLOB present CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/CMakeLists.txt)
    if(present)
      add_subdirectory(${room})
    endif()
  endforeach()
endfunction()

# freestone_compiler_library(NAME sources… [TABLEGEN targets…] [LINK libraries…])
#
# Adds one room of the compiler: a static, position-independent library with MLIR's flags (no RTTI, no exceptions). All
# rooms together are libfreestone_compiler.so; tests and freestone-opt link only the rooms that they need.
function(freestone_compiler_library name)
  cmake_parse_arguments(ARG "" "" "TABLEGEN;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  if(ARG_TABLEGEN)
    add_dependencies(${name} ${ARG_TABLEGEN})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK} freestone_mlir)
  target_precompile_headers(${name} REUSE_FROM freestone_precompiled)
  set_property(GLOBAL APPEND PROPERTY FREESTONE_COMPILER_ROOMS ${name})
endfunction()

# freestone_precompile_executable(TARGET): lets an executable that links rooms of the compiler use their precompiled header.
function(freestone_precompile_executable target)
  # The header is compiled with -fPIC, and clang accepts it only with the same flag; executables default to -fPIE.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  target_precompile_headers(${target} REUSE_FROM freestone_precompiled)
endfunction()

# freestone_precompile(TARGET headers…): precompiles headers of other projects for all files of a target.
function(freestone_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    # With a time stamp in the header, ccache would never find an object again.
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# freestone_precompile_as(TARGET OTHER): lets a target use another one's precompiled header, and have all of its flags.
function(freestone_precompile_as target other)
  target_precompile_headers(${target} REUSE_FROM ${other})
  set_property(TARGET ${other} APPEND PROPERTY FREESTONE_HEADER_OF ${target})
endfunction()

# freestone_compile_with_exceptions(sources…): enables exceptions for files that call a throwing library (ONNX).
function(freestone_compile_with_exceptions)
  set_source_files_properties(${ARGN} PROPERTIES
    COMPILE_OPTIONS "-fexceptions;-frtti" SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# freestone_tablegen(TARGET input.td output.inc "flags" [output.inc "flags"]…): one target over several generated files.
function(freestone_tablegen target td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(outputs ${ARGN})
  while(outputs)
    list(POP_FRONT outputs output flags)
    separate_arguments(flags)
    mlir_tablegen(${output} ${flags} EXTRA_INCLUDES ${MLIR_INCLUDE_DIRS})
  endwhile()
  add_public_tablegen_target(${target})
endfunction()

# freestone_add_gtest(NAME sources… [LINK libraries…] [LABELS labels…]): a GoogleTest executable, registered as one
# ctest test. If it links a room of the compiler (Freestone…), it gets the compiler's flags.
function(freestone_add_gtest name)
  cmake_parse_arguments(ARG "" "" "LINK;LABELS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gtest_main)
  if(ARG_LINK MATCHES "Freestone")
    freestone_precompile_executable(${name})
  else()
    # Compiled in two thirds of the time, and what takes long at run time is in the libraries.
    target_compile_options(${name} PRIVATE -O0)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
  if(ARG_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  endif()
endfunction()

# freestone_cover(libraries…): compiles these libraries and all of ours that they link with the coverage that a fuzzer
# follows. Other libraries have none: it would take a quarter of their compile time.
function(freestone_cover)
  foreach(library IN LISTS ARGN)
    if(NOT library MATCHES "^freestone_" OR NOT TARGET ${library})
      continue()
    endif()
    get_property(isCovered TARGET ${library} PROPERTY FREESTONE_COVERED)
    if(isCovered)
      continue()
    endif()
    set_property(TARGET ${library} PROPERTY FREESTONE_COVERED ON)
    get_property(alike TARGET ${library} PROPERTY FREESTONE_HEADER_OF)
    foreach(target IN LISTS library alike)
      target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endforeach()
    get_target_property(linked ${library} LINK_LIBRARIES)
    freestone_cover(${linked})
  endforeach()
endfunction()

# freestone_add_fuzzer(NAME sources… CORPUS folder [SECONDS number] [LINK libraries…]): a libFuzzer harness, which ctest
# runs for SECONDS (30) from a committed corpus. Only in builds with FREESTONE_FUZZERS, as of the presets asan and fuzz.
function(freestone_add_fuzzer name)
  if(NOT FREESTONE_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "CORPUS;SECONDS" "LINK" ${ARGN})
  if(NOT ARG_SECONDS)
    set(ARG_SECONDS 30)
  endif()
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  freestone_cover(${ARG_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  if(ARG_LINK MATCHES "Freestone")
    freestone_precompile_executable(${name})
  endif()
  # libFuzzer writes new inputs into the first folder and only reads the second.
  set(discovered ${CMAKE_CURRENT_BINARY_DIR}/${name}-discovered)
  file(MAKE_DIRECTORY ${discovered})
  add_test(NAME ${name} COMMAND ${name} -max_total_time=${ARG_SECONDS} -timeout=10 -rss_limit_mb=4096 -print_final_stats=1
    -artifact_prefix=${CMAKE_CURRENT_BINARY_DIR}/ ${discovered} ${ARG_CORPUS})
  set_tests_properties(${name} PROPERTIES LABELS fuzz)
endfunction()

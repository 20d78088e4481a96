# freestone_fetch_onnx(SOURCE_DIR requirements.txt): unpacks the C++ sources in PyPI's `onnx` package.
#
# The package is pinned by version and hash in the requirements file, and kept in the build folder. FREESTONE_ONNX_WHEEL names a
# copy for machines without a network; it must have the same hash.
set(FREESTONE_ONNX_WHEEL "" CACHE FILEPATH "A local copy of the pinned onnx wheel; empty: fetch it from PyPI with pip")

function(freestone_fetch_onnx result requirements)
  file(STRINGS ${requirements} pin REGEX "^onnx==")
  string(REGEX MATCH "^onnx==([0-9.]+) --hash=sha256:([0-9a-f]+)" pin "${pin}")
  set(version ${CMAKE_MATCH_1})
  set(hash ${CMAKE_MATCH_2})
  set(folder ${CMAKE_BINARY_DIR}/onnx-${version})
  set(${result} ${folder}/source PARENT_SCOPE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${requirements})
  if(EXISTS ${folder}/${hash})
    return()
  endif()

  set(wheel ${FREESTONE_ONNX_WHEEL})
  if(NOT wheel)
    message(STATUS "Fetching the C++ sources of ONNX ${version} from PyPI")
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    execute_process(
      COMMAND ${Python3_EXECUTABLE} -m pip download --quiet --disable-pip-version-check --no-deps --only-binary=:all:
              --platform manylinux_2_28_x86_64 --python-version 3.12 --require-hashes -r ${requirements} -d ${folder}/wheel
      RESULT_VARIABLE status ERROR_VARIABLE error)
    if(NOT status EQUAL 0)
      message(FATAL_ERROR "onnx ${version} could not be fetched from PyPI; give a local copy of its wheel with "
                          "-DFREESTONE_ONNX_WHEEL=FILE, or install python3-pip and check the network. pip says:\n${error}")
    endif()
    file(GLOB wheel ${folder}/wheel/onnx-${version}-*.whl)
  endif()
  file(SHA256 ${wheel} actual)
  if(NOT actual STREQUAL hash)
    message(FATAL_ERROR "${wheel} is not the pinned onnx ${version}: its SHA-256 is ${actual}, not ${hash}.")
  endif()
  file(REMOVE_RECURSE ${folder}/source)
  file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${folder}/source PATTERNS *.cc *.h *.proto *LICENSE)
  file(TOUCH ${folder}/${hash})
endfunction()

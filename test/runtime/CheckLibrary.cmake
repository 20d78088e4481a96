# The runtime's library is small, depends only on the C and C++ libraries, and exports the C ABI alone.
#   cmake -DLIBRARY=libfreestone_runtime.so -DSTRIP=strip -DNM=nm -P CheckLibrary.cmake
execute_process(COMMAND ldd ${LIBRARY} OUTPUT_VARIABLE needed COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n\t ]+\\.so[^\n ]*" libraries "${needed}")
foreach(library IN LISTS libraries)
  if(NOT library MATCHES "(linux-vdso|libstdc\\+\\+|libm|libgcc_s|libc|libdl|libpthread|ld-linux-x86-64)\\.so")
    message(FATAL_ERROR "${LIBRARY} needs ${library}")
  endif()
endforeach()

execute_process(COMMAND ${STRIP} -o stripped.so ${LIBRARY} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE stripped.so bytes)
if(bytes GREATER 1000000)
  message(FATAL_ERROR "stripped, ${LIBRARY} has ${bytes} bytes")
endif()

execute_process(COMMAND ${NM} -D --defined-only ${LIBRARY} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " T [^\n]+" functions "${symbols}")
foreach(function IN LISTS functions)
  if(NOT function MATCHES "^ T freestone_")
    message(FATAL_ERROR "${LIBRARY} exports${function}")
  endif()
endforeach()
message(STATUS "${bytes} bytes stripped")

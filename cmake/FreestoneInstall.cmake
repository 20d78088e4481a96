# What `cmake --install` lays down: the public headers, the libraries, the tools, and freestoneConfig.cmake with freestone::runtime.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/freestone DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
set(origin "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

if(TARGET freestone_runtime)
  add_library(freestone::runtime ALIAS freestone_runtime)
  set_target_properties(freestone_runtime PROPERTIES EXPORT_NAME runtime INSTALL_RPATH "$ORIGIN")
  target_include_directories(freestone_runtime INTERFACE
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  install(TARGETS freestone_runtime EXPORT freestoneTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/freestone)
  install(EXPORT freestoneTargets NAMESPACE freestone:: DESTINATION ${package})
  file(CONFIGURE OUTPUT freestoneConfig.cmake CONTENT
    "include(\${CMAKE_CURRENT_LIST_DIR}/freestoneTargets.cmake)\n" @ONLY)
  write_basic_package_version_file(freestoneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/freestoneConfig.cmake ${CMAKE_BINARY_DIR}/freestoneConfigVersion.cmake
    DESTINATION ${package})
endif()
if(TARGET freestone_compiler)
  set_target_properties(freestone_compiler PROPERTIES INSTALL_RPATH "$ORIGIN" INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS freestone_compiler LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
foreach(tool IN ITEMS freestone freestone-opt)
  if(TARGET ${tool})
    set_target_properties(${tool} PROPERTIES INSTALL_RPATH "${origin}" INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${tool} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endforeach()

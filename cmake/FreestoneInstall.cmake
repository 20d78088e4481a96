# Installs, besides the tools, the public headers, the libraries, and freestoneConfig.cmake with freestone::runtime,
# freestone::compilation and freestone::trainer.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/freestone DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})

if(TARGET freestone_runtime)
  add_library(freestone::runtime ALIAS freestone_runtime)
  set_target_properties(freestone_runtime PROPERTIES EXPORT_NAME runtime)
  install(TARGETS freestone_runtime EXPORT freestoneTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  foreach(name IN ITEMS compilation trainer)
    if(TARGET freestone_${name})
      add_library(freestone::${name} ALIAS freestone_${name})
      set_target_properties(freestone_${name} PROPERTIES EXPORT_NAME ${name})
      install(TARGETS freestone_${name} EXPORT freestoneTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    endif()
  endforeach()

  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/freestone)
  install(EXPORT freestoneTargets NAMESPACE freestone:: DESTINATION ${package})
  file(CONFIGURE OUTPUT freestoneConfig.cmake CONTENT
    "include(\${CMAKE_CURRENT_LIST_DIR}/freestoneTargets.cmake)\n" @ONLY)
  write_basic_package_version_file(freestoneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${CMAKE_BINARY_DIR}/freestoneConfig.cmake ${CMAKE_BINARY_DIR}/freestoneConfigVersion.cmake
    DESTINATION ${package})
endif()
if(TARGET freestone_compiler)
  set_target_properties(freestone_compiler PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS freestone_compiler LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

  # The contents of the Python wheel `freestone`, for `cmake --install build --component wheel`.
  install(TARGETS freestone_compiler LIBRARY DESTINATION lib COMPONENT wheel EXCLUDE_FROM_ALL)
  if(TARGET freestone)
    install(TARGETS freestone RUNTIME DESTINATION bin COMPONENT wheel EXCLUDE_FROM_ALL)
  endif()
endif()

# The library as programs link it: libleasehold, its headers, a CMake package and a pkg-config file. Static, or
# shared with -DBUILD_SHARED_LIBS=ON.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(parts util model net store store_memory store_json store_redis store_sqlite client wire http_client config engine env manager keeper repo_lock workspace open)
set(objects)
foreach(part ${parts})
  if(NOT part STREQUAL "store")  # Headers only.
    list(APPEND objects $<TARGET_OBJECTS:leasehold_${part}>)
  endif()
endforeach()

# Not built unless it is asked for: the tests and the command line link its parts.
add_library(leasehold_library EXCLUDE_FROM_ALL ${objects})
add_library(Leasehold::leasehold ALIAS leasehold_library)
set_target_properties(leasehold_library PROPERTIES
  OUTPUT_NAME leasehold EXPORT_NAME leasehold LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(leasehold_library PUBLIC cxx_std_23)
target_include_directories(leasehold_library INTERFACE
  $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(leasehold_library PRIVATE fmt::fmt SQLite::SQLite3 Boost::json PkgConfig::hiredis OpenSSL::SSL
  Threads::Threads)
if(BUILD_SHARED_LIBS)
  # Only what the public headers declare, under a version of its own.
  target_link_options(leasehold_library PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/leasehold.map)
  set_property(TARGET leasehold_library APPEND PROPERTY LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/leasehold.map)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Leasehold)
install(TARGETS leasehold_library EXPORT leasehold COMPONENT library)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/leasehold DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
install(EXPORT leasehold NAMESPACE Leasehold:: FILE LeaseholdTargets.cmake DESTINATION ${package_dir}
  COMPONENT library)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/LeaseholdConfig.cmake.in
  ${CMAKE_BINARY_DIR}/LeaseholdConfig.cmake INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may break what an older one promised.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/LeaseholdConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(${CMAKE_SOURCE_DIR}/cmake/leasehold.pc.in ${CMAKE_BINARY_DIR}/leasehold.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/LeaseholdConfig.cmake ${CMAKE_BINARY_DIR}/LeaseholdConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT library)
install(FILES ${CMAKE_BINARY_DIR}/leasehold.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

# The Debian package, by: cpack --config build/release/CPackConfig.cmake
install(FILES ${CMAKE_SOURCE_DIR}/packaging/systemd/lease-serve.service ${CMAKE_SOURCE_DIR}/packaging/systemd/lease-serve.socket
  DESTINATION lib/systemd/system COMPONENT lease)
install(FILES ${CMAKE_SOURCE_DIR}/packaging/sysusers/leasehold.conf DESTINATION lib/sysusers.d COMPONENT lease)
install(FILES ${CMAKE_SOURCE_DIR}/packaging/prometheus/leasehold.rules.yml DESTINATION ${CMAKE_INSTALL_DATADIR}/leasehold
  COMPONENT lease)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/leasehold RENAME copyright COMPONENT lease)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/docs/api.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/leasehold
  COMPONENT lease)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME leasehold)
set(CPACK_PACKAGE_VENDOR Leasehold)
set(CPACK_PACKAGE_CONTACT "The Leasehold authors <authors@leasehold.dev>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "leases on files for fleets of coding agents")
set(CPACK_PACKAGE_DESCRIPTION "Agents hold a lease on the files they change, so that none overwrites another's work. The command\nlease works on its own; lease serve serves a team.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
# The programs only; the library is installed from source by those who build against it.
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL lease)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/packaging/debian/postinst)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
include(CPack)

# The program, its manual pages and completions, written by itself from the texts of --help.
include(GNUInstallDirs)

set(texts ${CMAKE_BINARY_DIR}/texts)
file(MAKE_DIRECTORY ${texts}/man)
add_custom_command(OUTPUT ${texts}/stamp
  COMMAND lease help --man-pages ${texts}/man
  COMMAND lease completion bash > ${texts}/lease.bash
  COMMAND lease completion zsh > ${texts}/_lease
  COMMAND lease completion fish > ${texts}/lease.fish
  COMMAND ${CMAKE_COMMAND} -E touch ${texts}/stamp
  DEPENDS lease COMMENT "Writing manual pages and completions" VERBATIM)
add_custom_target(lease_texts DEPENDS ${texts}/stamp)

install(TARGETS lease lease-serve COMPONENT lease)
if(LEASEHOLD_ETCD)
  install(TARGETS lease-etcd lease-serve-etcd COMPONENT lease-etcd EXCLUDE_FROM_ALL)
endif()
install(DIRECTORY ${texts}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT lease FILES_MATCHING PATTERN "*.1")
install(FILES ${texts}/lease.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME lease
  COMPONENT lease)
install(FILES ${texts}/_lease DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT lease)
install(FILES ${texts}/lease.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT lease)

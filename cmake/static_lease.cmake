# The program carries everything but glibc: loading shared libraries would be most of what a cold start costs,
# and hooks start it at every tool call of every agent.
#
# The parts of the library are compiled once, for the shared library too, so they name the shared packages of fmt,
# Boost.JSON and SQLite. Here the static ones stand before these on the link line; with nothing left for the shared
# ones to define, --as-needed drops them.
function(leasehold_link_statically target)
  find_library(LEASEHOLD_SQLITE_ARCHIVE libsqlite3.a REQUIRED)
  find_library(LEASEHOLD_BOOST_JSON_ARCHIVE libboost_json.a REQUIRED)
  # Debian has no archive of fmt, but all of its source in headers.
  target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src/cli/fmt_implementation.cc)
  # A fixed address saves the relocations, a third of what is left of the start.
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -no-pie -Wl,--as-needed)
  target_link_libraries(${target} PRIVATE
    -Wl,--push-state,--whole-archive ${LEASEHOLD_SQLITE_ARCHIVE} ${LEASEHOLD_BOOST_JSON_ARCHIVE} -Wl,--pop-state)
endfunction()

# The program carries everything, glibc too: loading shared libraries would be most of what a cold start costs, and
# hooks start it at every tool call of every agent. Not under sanitizers, which want their own ways with the libraries,
# and not beside a shared library of ours, for which the packages are the shared ones.
if(NOT BUILD_SHARED_LIBS AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  set(LEASEHOLD_STATIC_LEASE ON)
endif()

# The parts of the library are compiled once, for all programs. leasehold_either(name package archive) is what such a part
# links: the archive in the program that is static, the shared package in any other.
function(leasehold_either name package archive)
  add_library(${name} INTERFACE)
  if(LEASEHOLD_STATIC_LEASE)
    target_link_libraries(${name} INTERFACE $<IF:$<BOOL:$<TARGET_PROPERTY:LEASEHOLD_IS_STATIC>>,${archive},${package}>)
  else()
    target_link_libraries(${name} INTERFACE ${package})
  endif()
endfunction()

if(LEASEHOLD_STATIC_LEASE)
  find_library(LEASEHOLD_SQLITE_ARCHIVE libsqlite3.a REQUIRED)
  find_library(LEASEHOLD_BOOST_JSON_ARCHIVE libboost_json.a REQUIRED)
  find_library(LEASEHOLD_SSL_ARCHIVE libssl.a REQUIRED)
  find_library(LEASEHOLD_CRYPTO_ARCHIVE libcrypto.a REQUIRED)
endif()
leasehold_either(leasehold_sqlite3 SQLite::SQLite3 "${LEASEHOLD_SQLITE_ARCHIVE}")
leasehold_either(leasehold_boost_json Boost::json "${LEASEHOLD_BOOST_JSON_ARCHIVE}")
# Never the archive beside gRPC: that would call some functions of it and others of the system's, which need not be of
# one version.
leasehold_either(leasehold_ssl OpenSSL::SSL "${LEASEHOLD_SSL_ARCHIVE}")
leasehold_either(leasehold_crypto OpenSSL::Crypto "${LEASEHOLD_CRYPTO_ARCHIVE}")
# Debian has no archive of fmt, but all of its source in headers: src/cli/fmt_implementation.cc.
leasehold_either(leasehold_fmt fmt::fmt "")

function(leasehold_link_statically target)
  set_target_properties(${target} PROPERTIES LEASEHOLD_IS_STATIC ON)
  target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src/cli/fmt_implementation.cc)
  # A fixed address saves the relocations, a third of what is left of the start.
  target_link_options(${target} PRIVATE -static -no-pie)
endfunction()

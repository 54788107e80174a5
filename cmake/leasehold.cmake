# One target per folder. A target's headers can be included only by targets that link it: each has
# an include root of its own, with links to that folder's headers and nothing else.

add_library(leasehold_options INTERFACE)
target_compile_options(leasehold_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror
  -Wno-missing-field-initializers)  # Designated initializers name what matters; the rest has defaults.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 sees dangling and uninitialized values inside std::optional and std::string that are not there.
  target_compile_options(leasehold_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Clang's -Wconversion includes sign changes, GCC's does not: what is clean with one has to be clean with the
  # other. And Clang blames us for a deprecated function that GCC 12's stable_sort calls.
  target_compile_options(leasehold_options INTERFACE -Wno-sign-conversion -Wno-deprecated-declarations)
endif()

# No object holds the place of this clone, so ccache (with CCACHE_BASEDIR, set by the presets) can give a
# clone elsewhere the objects of this one.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)

# leasehold_folder(engine DEPS leasehold_store): the library of src/engine, as target leasehold_engine.
# Every *.cc of the folder belongs to it, but tests (*_test.cc) and EXCLUDEd ones.
function(leasehold_folder folder)
  cmake_parse_arguments(ARG "" "" "DEPS;PRIVATE_DEPS;EXCLUDE" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  set(target leasehold_${name})
  set(dir ${CMAKE_SOURCE_DIR}/src/${folder})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cc)
  file(GLOB headers CONFIGURE_DEPENDS ${dir}/*.h)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  foreach(excluded ${ARG_EXCLUDE})
    list(REMOVE_ITEM sources ${dir}/${excluded})
  endforeach()

  set(root ${CMAKE_BINARY_DIR}/include/${name})
  file(REMOVE_RECURSE ${root})
  file(MAKE_DIRECTORY ${root}/${folder})
  foreach(header ${headers})
    get_filename_component(leaf ${header} NAME)
    file(CREATE_LINK ${header} ${root}/${folder}/${leaf} SYMBOLIC)
  endforeach()

  if(sources)
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC ${root})
    target_link_libraries(${target} PUBLIC ${ARG_DEPS} PRIVATE leasehold_options ${ARG_PRIVATE_DEPS})
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${root})
    target_link_libraries(${target} INTERFACE ${ARG_DEPS})
  endif()
endfunction()

# The tests of real processes run on the release build, all others with sanitizers: these targets build the
# ones and the others.
add_custom_target(process_tests)
add_custom_target(sanitized_tests)

# leasehold_test(engine_tests SOURCES a_test.cc ... DEPS ... [LABEL process] [ARGS ...])
function(leasehold_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;DEPS;ARGS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE leasehold_options ${ARG_DEPS} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} ${ARG_ARGS})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT})
  if(ARG_LABEL STREQUAL "process")
    add_dependencies(process_tests ${name})
  else()
    add_dependencies(sanitized_tests ${name})
  endif()
endfunction()

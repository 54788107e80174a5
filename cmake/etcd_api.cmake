# etcd's messages and calls, generated from .proto files.
find_package(Protobuf REQUIRED)
find_program(LEASEHOLD_GRPC_PLUGIN grpc_cpp_plugin REQUIRED)

# leasehold_grpc_api(leasehold_etcd_api ${CMAKE_SOURCE_DIR}/src/store/etcd/etcd.proto)
function(leasehold_grpc_api target proto)
  get_filename_component(name ${proto} NAME_WE)
  get_filename_component(folder ${proto} DIRECTORY)
  set(generated ${CMAKE_BINARY_DIR}/${name}_api)
  file(MAKE_DIRECTORY ${generated})
  set(outputs ${generated}/${name}.pb.cc ${generated}/${name}.pb.h ${generated}/${name}.grpc.pb.cc ${generated}/${name}.grpc.pb.h)
  add_custom_command(OUTPUT ${outputs}
    COMMAND protobuf::protoc --proto_path=${folder} --cpp_out=${generated} --grpc_out=${generated}
      --plugin=protoc-gen-grpc=${LEASEHOLD_GRPC_PLUGIN} ${proto}
    DEPENDS ${proto} COMMENT "Generating the messages of ${name}.proto" VERBATIM)
  # Not under our warnings: nobody wrote it.
  add_library(${target} STATIC ${outputs})
  target_include_directories(${target} SYSTEM PUBLIC ${generated})
  # The shared libraries: their static ones would bring some hundred others along.
  target_link_libraries(${target} PUBLIC grpc++ grpc gpr absl_synchronization protobuf::libprotobuf Threads::Threads)
endfunction()

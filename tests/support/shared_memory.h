#pragma once

#include <sys/mman.h>

#include <new>

namespace leasehold {

// A value that processes share with those they fork.
template <class Value>
class SharedMemory {
 public:
  SharedMemory()
      : memory_(new(mmap(nullptr, sizeof(Value), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))
                    Value()) {}
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() { munmap(memory_, sizeof(Value)); }

  Value* operator->() const { return memory_; }
  Value& operator*() const { return *memory_; }

 private:
  Value* memory_;
};

}  // namespace leasehold

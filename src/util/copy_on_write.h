// A value that is large to copy and seldom changed: copies share it until one of them changes.
#pragma once

#include <memory>
#include <utility>

namespace leasehold {

template <class T>
class CopyOnWrite {
 public:
  CopyOnWrite() : CopyOnWrite(T()) {}
  CopyOnWrite(T value) : value_(std::make_shared<T>(std::move(value))) {}

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  operator const T&() const { return *value_; }

  // To be changed, until this is copied. A new one: whether others look at the last no thread can tell.
  T& own() {
    value_ = std::make_shared<T>(*value_);
    return *value_;
  }

  bool operator==(const CopyOnWrite& other) const {
    return value_ == other.value_ || *value_ == *other.value_;
  }

 private:
  std::shared_ptr<T> value_;
};

}  // namespace leasehold

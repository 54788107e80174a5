// What a server answers. hiredis parses it; this reads it without trusting it.
#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace leasehold::redis {

// A part of an answer, as long as the answer lives. Whatever it is, every question has an answer.
class ReplyView {
 public:
  explicit ReplyView(const redisReply* reply) : reply_(reply) {}

  bool is_nil() const { return reply_ == nullptr || reply_->type == REDIS_REPLY_NIL; }
  bool is_error() const { return reply_ != nullptr && reply_->type == REDIS_REPLY_ERROR; }
  bool is_array() const { return reply_ != nullptr && reply_->type == REDIS_REPLY_ARRAY; }
  bool is_text() const {
    return reply_ != nullptr && (reply_->type == REDIS_REPLY_STRING || reply_->type == REDIS_REPLY_STATUS);
  }

  // Also of an error.
  std::string_view text() const {
    return is_text() || is_error() ? std::string_view(reply_->str, static_cast<std::size_t>(reply_->len))
                                   : std::string_view();
  }
  std::int64_t integer() const {
    return reply_ != nullptr && reply_->type == REDIS_REPLY_INTEGER ? reply_->integer : 0;
  }
  std::size_t size() const { return is_array() ? reply_->elements : 0; }
  ReplyView operator[](std::size_t index) const {
    return ReplyView(index < size() ? reply_->element[index] : nullptr);
  }

 private:
  const redisReply* reply_;
};

class Reply {
 public:
  explicit Reply(redisReply* reply) : reply_(reply, freeReplyObject) {}

  ReplyView view() const { return ReplyView(reply_.get()); }
  ReplyView operator[](std::size_t index) const { return view()[index]; }

 private:
  std::unique_ptr<redisReply, void (*)(void*)> reply_;
};

}  // namespace leasehold::redis

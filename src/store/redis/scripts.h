// The two small programs that run inside the server. They decide nothing about leases: one draws tokens and
// reads, the other looks whether what a commit is about to write is as expected.
#pragma once

#include <string_view>

namespace leasehold::redis {

// Draws ARGV[1] tokens (the floor is ARGV[2] if that is not empty, else the server's time; ARGV[3] is the
// key), then answers each of the reads that follow in ARGV, all at one moment: {seconds, microseconds, first
// token, reads...}. What is of the wrong type is an error in its place only.
//
//   P n file... queue... at... tickets ids
//                                 paths: {{document...}, {{ticket id, ticket...}...}, {{lease id,
//                                 lease...}...}}; the last for paths without a document, the last two only if
//                                 there are any
//   S n key...                    strings
//   O key most prefix             an owner's leases: {count}, or {count, id, lease...} if not more than most
//   N notices waits               {notices, ticket ids}, each false if there are none
//   M key   V key                 members of a set, values of a hash
//   L key from                    a list from there to its end
//   Z key min max                 names in a range of a sorted set
//   D command key a b limit prefix, B command key a b limit
//                                 by score, with what stands under prefix + member; without
//   X command key a b count       a part of a stream
inline constexpr std::string_view kReadScript = R"lua(
local at = 1
local function arg() at = at + 1; return ARGV[at - 1] end
local time = redis.call('TIME')
local out = {time[1], time[2], false}
local tokens, floor, tokenkey = tonumber(arg()), arg(), arg()
if tokens > 0 then
  local low = tonumber(floor) or tonumber(time[1]) * 1000000 + tonumber(time[2])
  low = math.min(low, 9007199254740992 - 1099511627776)
  local last = tonumber(redis.call('GET', tokenkey) or 0)
  if not last then return redis.error_reply('WRONGTYPE ' .. tokenkey .. ' is no number') end
  local first = math.max(last + 1, low)
  redis.call('SET', tokenkey, string.format('%.0f', first + tokens - 1))
  out[3] = string.format('%.0f', first)
end
local function wrong(key) return {err = 'WRONGTYPE ' .. key} end
local function failed(reply) return type(reply) == 'table' and reply.err end
local function check(found, first)
  for i = 1, #found do
    local key = ARGV[first + i - 1]
    if not found[i] and redis.call('EXISTS', key) == 1 then found[i] = wrong(key) end
  end
end
local function count(found)
  local there = 0
  for i = 1, #found do if found[i] then there = there + 1 end end
  return there
end
local function follow(ids, prefix, reply)
  for first = 1, #ids, 1000 do
    local names = {}
    for i = first, math.min(first + 999, #ids) do names[#names + 1] = prefix .. ids[i] end
    local found = redis.call('MGET', unpack(names))
    for i = 1, #names do
      reply[#reply + 1] = ids[first + i - 1]
      reply[#reply + 1] = found[i]
    end
  end
  return reply
end
local read = {}
function read.P()
  local n = tonumber(arg())
  local first = at
  at = at + 3 * n
  local tickets, leases = arg(), arg()
  local files = redis.call('MGET', unpack(ARGV, first, first + n - 1))
  if redis.call('EXISTS', unpack(ARGV, first, first + 3 * n - 1)) == 2 * count(files) then return {files} end
  local function all(command, key, prefix)
    local ids = redis.pcall(command, key)
    if failed(ids) then return wrong(key) end
    return #ids > 0 and follow(ids, prefix, {})
  end
  local queues, ended = {}, {}
  for i = 1, n do
    queues[i] = all('HKEYS', ARGV[first + n + i - 1], tickets)
    ended[i] = not files[i] and all('SMEMBERS', ARGV[first + 2 * n + i - 1], leases)
  end
  check(files, first)
  return {files, queues, ended}
end
function read.S()
  local n = tonumber(arg())
  local first = at
  at = at + n
  local found = redis.call('MGET', unpack(ARGV, first, first + n - 1))
  if redis.call('EXISTS', unpack(ARGV, first, first + n - 1)) ~= count(found) then check(found, first) end
  return found
end
function read.O()
  local key, most, prefix = arg(), tonumber(arg()), arg()
  local held = redis.pcall('HLEN', key)
  if failed(held) then return wrong(key) end
  if held == 0 or held > most then return {held} end
  return follow(redis.call('HKEYS', key), prefix, {held})
end
function read.N()
  local notices, waits = arg(), arg()
  if redis.call('EXISTS', notices, waits) == 0 then return {false, false} end
  return {redis.pcall('HVALS', notices), redis.pcall('SMEMBERS', waits)}
end
function read.M() return redis.pcall('SMEMBERS', arg()) end
function read.V() return redis.pcall('HVALS', arg()) end
function read.L()
  local key, from = arg(), arg()
  return redis.pcall('LRANGE', key, from, -1)
end
function read.Z()
  local key, low, high = arg(), arg(), arg()
  return redis.pcall('ZRANGEBYLEX', key, low, high)
end
function read.B()
  local command, key, a, b, limit = arg(), arg(), arg(), arg(), arg()
  return redis.pcall(command, key, a, b, 'LIMIT', 0, limit)
end
function read.D()
  local ids = read.B()
  local prefix = arg()
  if failed(ids) then return ids end
  return follow(ids, prefix, {})
end
function read.X()
  local command, key, a, b, limit = arg(), arg(), arg(), arg(), arg()
  return redis.pcall(command, key, a, b, 'COUNT', limit)
end
local last = #ARGV
while at <= last do out[#out + 1] = read[arg()]() end
return out
)lua";

// Looks whether none of the first ARGV[1] keys exists, and whether each key behind them is of the type that
// follows it, or absent. If not it touches KEYS[1], which the transaction watches, so that the EXEC behind it
// comes to nothing; and answers the first key that is wrong.
inline constexpr std::string_view kGuardScript = R"lua(
local n = tonumber(ARGV[1])
local bad = false
if n > 0 and redis.call('EXISTS', unpack(ARGV, 2, n + 1)) > 0 then bad = 'EXISTS' end
for i = n + 2, #ARGV, 2 do
  local is = redis.call('TYPE', ARGV[i]).ok
  if is ~= ARGV[i + 1] and is ~= 'none' then bad = ARGV[i] end
end
if bad then redis.call('SET', KEYS[1], '1', 'PX', 1000) end
return bad
)lua";

}  // namespace leasehold::redis

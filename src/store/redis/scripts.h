// The small programs that run inside the server. They decide nothing about leases: one draws tokens, one
// reads, one looks whether what a commit is about to write is as expected, one keeps the later of two ends.
#pragma once

#include <cstdint>
#include <string_view>

namespace leasehold::redis {

// What `lease:format` says: the indexes are as docs/formats/redis.md tells. The reading script has it too.
inline constexpr std::string_view kFormat = "2";

// 2^53, where JSON stops to carry them, less a million: no token from there on is followed by another.
inline constexpr std::uint64_t kTokenEnd = 9007199253692416;

// Draws ARGV[1] tokens from KEYS[1], none below ARGV[2] (empty: the server's time). The answer is that of
// TIME, and the first of them.
inline constexpr std::string_view kTokenScript = R"lua(
local call, key, count = redis.call, KEYS[1], tonumber(ARGV[1])
local time = call('TIME')
local low = tonumber(ARGV[2]) or time[1] * 1000000 + time[2]
if low > 9006099743113216 then low = 9006099743113216 end
local before = call('SET', key, string.format('%d', low + count - 1), 'GET')
if before then
  local last = tonumber(before)
  if not last or not (last >= 0 and last < 9007199253692416) then
    call('SET', key, before)
    return redis.error_reply('WRONGTYPE ' .. key .. ' is no token')
  end
  if last >= low then
    low = last + 1
    call('SET', key, string.format('%d', low + count - 1))
  end
end
time[3] = low
return time
)lua";

// Replaces what is no token by one of at least ARGV[1], and as high as one drawn now would be.
inline constexpr std::string_view kReplaceTokenScript = R"lua(
if redis.call('TYPE', KEYS[1]).ok == 'string' then
  local last = tonumber(redis.call('GET', KEYS[1]))
  if last and last >= 0 and last < 9007199253692416 then return 0 end
end
local time = redis.call('TIME')
local low = math.max(time[1] * 1000000 + time[2], tonumber(ARGV[1]))
redis.call('SET', KEYS[1], string.format('%.0f', low))
return 1
)lua";

// Answers reads, all at one moment. ARGV:
//
//   n paths, m owners, k strings; file... queue... (n each), {notices, waits, gate}... (m), intent
//   owner... (m), string... (k), what the names of this workspace begin with
//   further reads, of which each begins with a letter:
//
//     O key most                       an owner's leases: {count}; not more than `most`: id, lease... too
//     M key                            members of a set
//     V key                            values of a hash
//     H key                            all of a hash
//     L key from                       a list from there to its end
//     Z key start limit                names in a sorted set that begin so, in their order
//     B command key a b limit          a part of one, by score
//     D command key a b limit prefix   the same, with what stands under prefix + member
//     X command key a b count          a part of a stream
//
// The answer: {documents, queues, ended, owners, intent, counts, strings, above, tickets, further reads...}.
// Queues are {ticket id...}, and `tickets` has {ticket id, ticket...} of all of them, each once: a request
// for many paths stands in as many queues. `ended` has {lease id, lease...} for paths whose document is gone;
// owners are {notices, ticket ids, contentions}; above is 0 if somebody may have or want a directory, 1 if
// nobody does, 2 if that is so because nobody has or wants anything. What is of the wrong type is an error in
// its place only.
inline constexpr std::string_view kReadScript = R"lua(
local call, A = redis.call, ARGV
local out = {false, false, false, false, false, false, false, 0, false}
local n, m, k = tonumber(A[1]), tonumber(A[2]), tonumber(A[3])
local first = 4
local owners = first + 2 * n + 3 * m + 1
local strings = owners + m
local at = strings + k + 1
local P = A[at - 1]
local files, there = {}, 0
if n > 0 then
  files = call('MGET', unpack(A, first, first + n - 1))
  for i = 1, n do if files[i] then there = there + 1 end end
  out[1] = files
end
-- Leases at a path; they outlive its document until their end is recorded.
local paths = P .. 'paths'
local function at_path(i) return string.sub(A[first + i - 1], #P + 6) .. '\0' end
-- Names have an order only where all scores are equal; others may have put something there with another.
local sizes, ordered, members = {}, {}, {}
local function in_order(key)
  if not sizes[key] then
    sizes[key] = redis.pcall('ZCARD', key)
    ordered[key] = redis.pcall('ZCOUNT', key, 0, 0) == sizes[key]
  end
  return ordered[key], sizes[key]
end
local function range(start)
  return '[' .. start, '(' .. string.sub(start, 1, -2) .. string.char(string.byte(start, -1) + 1)
end
local plain = call('EXISTS', unpack(A, first, owners - 1)) == there
for i = 1, n do
  if plain and not files[i] then
    plain = in_order(paths) and call('ZLEXCOUNT', paths, range(at_path(i))) == 0
  end
end
if m > 0 then
  local counts = {}
  for i = 1, m do counts[i] = redis.pcall('HLEN', A[owners + i - 1]) end
  out[6] = counts
end
local found = k > 0 and call('MGET', unpack(A, strings, strings + k - 1))
out[7] = found
if found then
  for i = 1, k do
    local key = A[strings + i - 1]
    if not found[i] and call('EXISTS', key) == 1 then found[i] = {err = 'WRONGTYPE ' .. key} end
  end
end
if call('EXISTS', P .. 'dirs') == 0 then
  if call('MGET', P .. 'format')[1] == '2' then
    out[8] = 1
  elseif call('EXISTS', paths, P .. 'waiting') == 0 then
    out[8] = 2
  end
end
if plain and at > #A then return out end

local function wrong(key) return {err = 'WRONGTYPE ' .. key} end
local function failed(reply) return type(reply) == 'table' and reply.err end
local function follow(ids, prefix, reply)
  for from = 1, #ids, 1000 do
    local names = {}
    for i = from, math.min(from + 999, #ids) do names[#names + 1] = prefix .. ids[i] end
    local values = call('MGET', unpack(names))
    for i = 1, #names do
      reply[#reply + 1] = ids[from + i - 1]
      reply[#reply + 1] = values[i]
    end
  end
  return reply
end
local function names(key, start, limit)
  local is_ordered, count = in_order(key)
  if failed(count) then return wrong(key) end
  if is_ordered then
    local low, high = range(start)
    return call('ZRANGEBYLEX', key, low, high, 'LIMIT', 0, limit)
  end
  if count > 10000 then return {err = 'WRONGTYPE ' .. key .. ' has other scores'} end
  members[key] = members[key] or call('ZRANGE', key, 0, -1)
  local found = {}
  for _, name in ipairs(members[key]) do
    if string.sub(name, 1, #start) == start then found[#found + 1] = name end
  end
  return found
end
if not plain then
  local function leases(i)
    local ids = names(paths, at_path(i), -1)
    if failed(ids) then return ids end
    for j = 1, #ids do ids[j] = string.sub(ids[j], string.find(ids[j], '\0', 1, true) + 1) end
    return #ids > 0 and follow(ids, P .. 'id:', {})
  end
  local queues, ended, told, tickets, named = {}, {}, {}, {}, {}
  for i = 1, n do
    queues[i] = redis.pcall('HKEYS', A[first + n + i - 1])
    for _, id in ipairs(queues[i]) do
      if not named[id] then tickets[#tickets + 1] = id end
      named[id] = true
    end
    ended[i] = not files[i] and leases(i)
  end
  for i = 1, n do
    local key = A[first + i - 1]
    if not files[i] and call('EXISTS', key) == 1 then files[i] = wrong(key) end
  end
  for i = 1, m do
    local key = first + 2 * n + 3 * (i - 1)
    told[i] = {redis.pcall('HVALS', A[key]), redis.pcall('SMEMBERS', A[key + 1]),
               redis.pcall('HVALS', A[key + 2])}
  end
  out[2], out[3], out[4], out[9] = queues, ended, told, follow(tickets, P .. 'ticket:', {})
  -- One that does not expire is nobody's who is about to come.
  out[5] = call('PTTL', A[owners - 1]) > 0 and redis.pcall('GET', A[owners - 1])
end
local function arg() at = at + 1; return A[at - 1] end
local read = {}
function read.O()
  local key, most = arg(), tonumber(arg())
  local held = redis.pcall('HLEN', key)
  if failed(held) then return wrong(key) end
  if held == 0 or held > most then return {held} end
  return follow(call('HKEYS', key), P .. 'id:', {held})
end
function read.M() return redis.pcall('SMEMBERS', arg()) end
function read.V() return redis.pcall('HVALS', arg()) end
function read.H() return redis.pcall('HGETALL', arg()) end
function read.L()
  local key, from = arg(), arg()
  return redis.pcall('LRANGE', key, from, -1)
end
function read.Z()
  local key, start, limit = arg(), arg(), arg()
  return names(key, start, limit)
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
while at <= #A do out[#out + 1] = read[arg()]() end
return out
)lua";

// Writes a field (ARGV[2], ARGV[3]) of a hash that is kept until ARGV[1] (milliseconds; empty: for good), or
// longer if another field wants it.
inline constexpr std::string_view kKeepFieldScript = R"lua(
local existed = redis.call('EXISTS', KEYS[1]) == 1
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
if ARGV[1] == '' then
  redis.call('PERSIST', KEYS[1])
elseif existed then
  redis.call('PEXPIREAT', KEYS[1], ARGV[1], 'GT')
else
  redis.call('PEXPIREAT', KEYS[1], ARGV[1])
end
return 1
)lua";

// Removes a field (ARGV[1]) of a hash. What is no hash stays as it is: nobody is kept from giving back by it.
inline constexpr std::string_view kDropFieldScript = R"lua(
if redis.call('TYPE', KEYS[1]).ok ~= 'hash' then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])
)lua";

// A stream's ids end with 2^64 - 1, and what carries an event's sequence takes no more milliseconds than
// this, 2^43. Nothing comes behind an id from there on. The guard below has it too.
inline constexpr std::uint64_t kStreamEnd = 8796093022208;

// Looks whether none of the first ARGV[1] keys exists, and whether each key behind them is of the type that
// follows it (a stream that takes more), or absent. If not it touches KEYS[1], which the transaction watches,
// so that the EXEC behind it comes to nothing; and answers the first key that is wrong.
inline constexpr std::string_view kGuardScript = R"lua(
local n = tonumber(ARGV[1])
local bad = false
if n > 0 and redis.call('EXISTS', unpack(ARGV, 2, n + 1)) > 0 then bad = 'EXISTS' end
for i = n + 2, #ARGV, 2 do
  local is = redis.call('TYPE', ARGV[i]).ok
  if is ~= ARGV[i + 1] and is ~= 'none' then bad = ARGV[i] end
  if is == 'stream' then
    local about = redis.call('XINFO', 'STREAM', ARGV[i])
    for j = 1, #about, 2 do
      if about[j] == 'last-generated-id' and tonumber(string.match(about[j + 1], '^%d+')) >= 8796093022208 then
        bad = ARGV[i]
      end
    end
  end
end
if bad then redis.call('SET', KEYS[1], '1', 'PX', 1000) end
return bad
)lua";

}  // namespace leasehold::redis

-- What every script of the frontier in Redis begins with. KEYS[1] is the name that all keys of
-- one crawl begin with, ARGV[1] the number of the worker that asks.
--
--   n        hash    counts and notes of the crawl
--   req      hash    key -> age, rest of the fingerprint, host, payload; waiting and leased
--   h:HOST   zset    what waits for a host: age and key by priority
--   own      hash    host -> number of the worker that may ask it
--   q:W      zset    hosts of a worker by the best that waits for them: age and host
--   head     hash    host -> its member in q:W, or 'held'
--   k:W      set     hosts of a worker that are set aside until it says otherwise
--   z:W      set     hosts of a worker where all that waits is held
--   l:W      hash    what a worker has leased: key -> priority
--   f:B d:B  sets    keys of what is finished, and of what was dropped of it, as whole numbers
--   tails    zset    hosts by the worst that waits for them, once the bound was reached
--   tail     hash    host -> its member in tails
--   w        zset    live workers by the time of their last call, in ms
--   i:W      hash    what is known of a worker
--   orphans  set     workers that are gone, and whose hosts have not all moved
--   untidy   hash    worker that is gone -> worker of its machine that cuts its files, or nothing
--   idle     set     workers without anything to ask for
--   hp       hash    host -> pages that it has brought, where that is limited
--   s sv     hashes  what strategies have learnt, see sharing.py; no script touches them
--   pg       hash    number of a page -> number of the page that led there, and its URL
--
-- A key is the first 8 bytes of a fingerprint. An age counts down, in 6 bytes, so that of equal
-- priorities the older comes first when a set is read from its end. What is held has a priority
-- below 0; it waits for its host, and is in no q:W.

local P = KEYS[1] .. ':'
local W = ARGV[1]
local call = redis.call
local AGES = 281474976710655

-- A worker whose crawl was thrown away would go on with an empty one, and lose what waited.
if W ~= '' and call('HEXISTS', P .. 'i:' .. W, 'what') == 0 then
  return redis.error_reply('FORGOTTEN')
end

local live, live_list
local counted = {}
local touched = {}
local has_tails = call('HGET', P .. 'n', 'tails')

local function count(name, by)
  counted[name] = (counted[name] or 0) + by
end

local function number(name)
  return tonumber(call('HGET', P .. 'n', name) or '0') + (counted[name] or 0)
end

local function write_counts()
  for name, by in pairs(counted) do
    if by ~= 0 then call('HINCRBY', P .. 'n', name, string.format('%.0f', by)) end
  end
  counted = {}
end

local function now()
  local time = call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function read_live()
  live, live_list = {}, call('ZRANGE', P .. 'w', 0, -1)
  table.sort(live_list)
  for _, worker in ipairs(live_list) do live[worker] = true end
end

-- Whose host it is: the live worker whose number and the host's name have the largest hash.
local function choose(host)
  local own = string.match(host, '%z(%d+)$')
  if own then return own end
  local best, most
  for _, worker in ipairs(live_list) do
    local hash = redis.sha1hex(worker .. ' ' .. host)
    if not most or hash > most then best, most = worker, hash end
  end
  return best
end

-- Take a host out of its owner's order.
local function unlist(own, host)
  local old = call('HGET', P .. 'head', host)
  if old == 'held' then
    call('SREM', P .. 'z:' .. own, host)
  elseif old then
    call('ZREM', P .. 'q:' .. own, old)
  end
  if old then call('HDEL', P .. 'head', host) end
  call('SREM', P .. 'k:' .. own, host)
end

local function owner(host)
  local own = call('HGET', P .. 'own', host)
  if own and live[own] then return own end
  local new = choose(host) or own
  if new ~= own then
    if own then unlist(own, host) end
    call('HSET', P .. 'own', host, new)
  end
  return new
end

-- Bring a host's place in its owner's order, and in that of the worst, up to date.
local function touch(host)
  local own = owner(host)
  local old = call('HGET', P .. 'head', host)
  local best = call('ZREVRANGE', P .. 'h:' .. host, 0, 0, 'WITHSCORES')
  local new = nil
  if best[1] and call('SISMEMBER', P .. 'k:' .. own, host) == 0 then
    if tonumber(best[2]) >= 0 then
      new = string.sub(best[1], 1, 6) .. host
      call('ZADD', P .. 'q:' .. own, best[2], new)
    else
      new = 'held'
      call('SADD', P .. 'z:' .. own, host)
    end
  end
  if old and old ~= new then
    if old == 'held' then
      call('SREM', P .. 'z:' .. own, host)
    else
      call('ZREM', P .. 'q:' .. own, old)
    end
  end
  if new and old ~= new then
    call('HSET', P .. 'head', host, new)
  elseif old and not new then
    call('HDEL', P .. 'head', host)
  end
  if not has_tails then return end
  old = call('HGET', P .. 'tail', host)
  local worst = call('ZRANGE', P .. 'h:' .. host, 0, 0, 'WITHSCORES')
  new = nil
  if worst[1] then
    new = string.sub(worst[1], 1, 6) .. host
    call('ZADD', P .. 'tails', worst[2], new)
  end
  if old and old ~= new then call('ZREM', P .. 'tails', old) end
  if new and old ~= new then
    call('HSET', P .. 'tail', host, new)
  elseif old and not new then
    call('HDEL', P .. 'tail', host)
  end
end

local function touch_all()
  for host in pairs(touched) do touch(host) end
  touched = {}
end

-- Move a host to another worker; what waits for it goes with it.
local function give(host, to)
  local own = call('HGET', P .. 'own', host)
  if own then unlist(own, host) end
  call('HSET', P .. 'own', host, to)
  touch(host)
end

-- Where a key is counted when it is finished: one of 16384 sets of numbers below 2^50.
local function place(key)
  local first, second = string.byte(key, 1, 2)
  local bucket = string.format('%d', first * 64 + math.floor(second / 4))
  local rest = (second % 4) * 281474976710656 + struct.unpack('>I6', key, 3)
  return bucket, string.format('%.0f', rest)
end

local function finished(key)
  local bucket, rest = place(key)
  if call('SISMEMBER', P .. 'f:' .. bucket, rest) == 0 then return nil end
  return call('SISMEMBER', P .. 'd:' .. bucket, rest) == 1 and 'dropped' or 'done'
end

local function finish(key, outcome)
  local bucket, rest = place(key)
  call('SADD', P .. 'f:' .. bucket, rest)
  if outcome == 'dropped' then call('SADD', P .. 'd:' .. bucket, rest) end
  call('HDEL', P .. 'req', key)
  count(outcome, 1)
end

local function record(age, tail, host, payload)
  return age .. tail .. struct.pack('>H', #host) .. host .. payload
end

local function unpacked(record)
  local length = struct.unpack('>H', record, 19)
  local host = string.sub(record, 21, 20 + length)
  return string.sub(record, 1, 6), string.sub(record, 7, 18), host, 21 + length
end

local function forget(host, member)
  call('HDEL', P .. 'req', string.sub(member, 7))
  touched[host] = true
  count('waiting', -1)
  count('evicted', 1)
end

-- Evict what is over the bounds, that of a host at those that have grown; call gone(key) for each.
local function trim(most, most_a_host, grown, gone)
  if most_a_host < most then
    local hosts = {}
    for host in pairs(grown) do hosts[#hosts + 1] = host end
    for _, host in ipairs(hosts) do
      local excess = call('ZCARD', P .. 'h:' .. host) - most_a_host
      if excess > 0 then
        excess = excess + math.floor(most_a_host / 256)
        local worst = call('ZRANGE', P .. 'h:' .. host, 0, excess - 1)
        call('ZREMRANGEBYRANK', P .. 'h:' .. host, 0, excess - 1)
        for _, member in ipairs(worst) do
          forget(host, member)
          gone(string.sub(member, 7))
        end
      end
    end
  end
  local excess = number('waiting') - most
  if excess <= 0 then return end
  excess = excess + math.floor(most / 256)
  if not has_tails then
    has_tails = '1'
    call('HSET', P .. 'n', 'tails', '1')
    for _, host in ipairs(call('HKEYS', P .. 'own')) do touched[host] = true end
  end
  touch_all()
  while excess > 0 do
    local worst = call('ZRANGE', P .. 'tails', 0, 0)[1]
    if not worst then break end
    local host = string.sub(worst, 7)
    local member = call('ZRANGE', P .. 'h:' .. host, 0, 0)[1]
    call('ZREM', P .. 'h:' .. host, member)
    forget(host, member)
    gone(string.sub(member, 7))
    touch(host)
    excess = excess - 1
  end
end

local function nothing() end

-- Whether anything waits for a host that is not held.
local function asks(host)
  local best = call('ZREVRANGE', P .. 'h:' .. host, 0, 0, 'WITHSCORES')
  return best[1] and tonumber(best[2]) >= 0
end

-- Let what a worker has leased wait again, at the age and priority that it had.
local function put_back(worker, key)
  local score = call('HGET', P .. 'l:' .. worker, key)
  local kept = call('HGET', P .. 'req', key)
  if not score then return end
  call('HDEL', P .. 'l:' .. worker, key)
  count('leased', -1)
  if not kept then return end
  local age, _, host = unpacked(kept)
  call('ZADD', P .. 'h:' .. host, score, age .. key)
  count('waiting', 1)
  touched[host] = true
end

-- Give the hosts of a worker that is gone to the others, some at a time.
local function inherit(worker, most)
  if #live_list == 0 then
    call('SADD', P .. 'orphans', worker)
    return
  end
  local hosts = {}
  for _, member in ipairs(call('ZREVRANGE', P .. 'q:' .. worker, 0, most)) do
    hosts[#hosts + 1] = string.sub(member, 7)
  end
  for _, set in ipairs({'k:', 'z:'}) do
    for _, host in ipairs(call('SRANDMEMBER', P .. set .. worker, most)) do
      hosts[#hosts + 1] = host
    end
  end
  for _, host in ipairs(hosts) do
    local own = string.match(host, '%z(%d+)$')
    if own and not live[own] then  -- its requests were in the memory of that worker
      unlist(worker, host)
      for _, member in ipairs(call('ZRANGE', P .. 'h:' .. host, 0, -1)) do
        call('HDEL', P .. 'req', string.sub(member, 7))
        count('waiting', -1)
        count('evicted', 1)
      end
      call('DEL', P .. 'h:' .. host)
      call('HDEL', P .. 'own', host)
    else
      give(host, choose(host))
    end
  end
  if call('EXISTS', P .. 'q:' .. worker, P .. 'k:' .. worker, P .. 'z:' .. worker) == 0 then
    call('SREM', P .. 'orphans', worker)
  else
    call('SADD', P .. 'orphans', worker)
  end
end

local function remove(worker)
  call('ZREM', P .. 'w', worker)
  call('SREM', P .. 'idle', worker)
  for _, key in ipairs(call('HKEYS', P .. 'l:' .. worker)) do put_back(worker, key) end
  read_live()
  inherit(worker, 2000)
  touch_all()
end

-- Every call of a worker says that it lives. When nobody could be heard before it, Redis was away,
-- and all are given the time to call again.
local function beat(time)
  local last = tonumber(call('HGET', P .. 'n', 'beat') or '0')
  local patience = tonumber(call('HGET', P .. 'n', 'patience') or '20000')
  if last > 0 and time - last > patience / 2 then
    call('HSET', P .. 'n', 'grace', string.format('%.0f', time + math.min(patience, 5000)))
  end
  call('ZADD', P .. 'w', time, W)
  call('HSET', P .. 'n', 'beat', string.format('%.0f', time))
  read_live()
end

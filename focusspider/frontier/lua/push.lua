-- Add requests: (fingerprint, host, priority, payload) each. ARGV: worker, bound, bound of a
-- host, most hosts or -1, then the requests. Returns how many are new and wait, how many were
-- known, how many a limit of hosts refused, and how many were evicted.
beat(now())
local most, most_a_host, most_hosts = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local new, fresh, known, refused = {}, 0, 0, 0
local first_age = tonumber(call('HGET', P .. 'n', 'age') or '0')
local age = first_age
local grown = {}

-- A host is brought up to date where its best has changed, and not for each of its requests.
local function placed(host, member)
  grown[host] = true
  if has_tails or call('ZREVRANK', P .. 'h:' .. host, member) == 0 then touched[host] = true end
end

local function raise(key, host, priority, payload)
  local kept_age, tail, before = unpacked(call('HGET', P .. 'req', key))
  local member = kept_age .. key
  local score = call('ZSCORE', P .. 'h:' .. before, member)
  if not score or tonumber(priority) <= tonumber(score) then return end
  if before ~= host then
    call('ZREM', P .. 'h:' .. before, member)
    touched[before] = true
  end
  call('ZADD', P .. 'h:' .. host, priority, member)
  call('HSET', P .. 'req', key, record(kept_age, tail, host, payload))
  placed(host, member)
end

for at = 5, #ARGV, 4 do
  local fingerprint, host, priority, payload = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3]
  local key = string.sub(fingerprint, 1, 8)
  if finished(key) then
    known = known + 1
  elseif most_hosts >= 0 and call('HEXISTS', P .. 'own', host) == 0
      and call('HLEN', P .. 'own') >= most_hosts then
    refused = refused + 1
  else
    local packed = struct.pack('>I6', AGES - age)
    local kept = record(packed, string.sub(fingerprint, 9), host, payload)
    if call('HSETNX', P .. 'req', key, kept) == 0 then
      known = known + 1
      raise(key, host, priority, payload)
    else
      age = age + 1
      call('ZADD', P .. 'h:' .. host, priority, packed .. key)
      if most_hosts >= 0 then call('HSETNX', P .. 'own', host, choose(host)) end
      placed(host, packed .. key)
      new[key] = true
      fresh = fresh + 1
      count('waiting', 1)
    end
  end
end
if age > first_age then call('HSET', P .. 'n', 'age', string.format('%.0f', age)) end
local evicted = 0
trim(most, most_a_host, grown, function(key)
  if new[key] then
    new[key] = nil
    fresh = fresh - 1
  end
  evicted = evicted + 1
end)
touch_all()
write_counts()
return {fresh, known, refused, evicted}

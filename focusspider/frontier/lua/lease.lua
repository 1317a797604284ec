-- Take the best of the worker's hosts that are not set aside. ARGV: worker, how many, how many
-- of one host before it is set aside (0: no end), limit of pages or -1, whether to return what
-- is leased already, then three lists, each after its length: hosts to set aside, hosts to take
-- in again, and keys to let wait again before. Returns for each request its fingerprint, host,
-- priority and payload, and the pages that its host has brought.
beat(now())
local n, a_host, limit = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local result = {}

local function add(key, kept, score)
  local _, tail, host, payload = unpacked(kept)
  result[#result + 1] = key .. tail
  result[#result + 1] = host
  result[#result + 1] = score
  result[#result + 1] = string.sub(kept, payload)
  result[#result + 1] = call('HGET', P .. 'hp', host) or '0'
end

local at = 6
local function list()
  local found, length = {}, tonumber(ARGV[at])
  for i = 1, length do found[i] = ARGV[at + i] end
  at = at + length + 1
  return found
end
local aside, again, back = list(), list(), list()

for _, key in ipairs(back) do put_back(W, key) end
for _, host in ipairs(aside) do
  if call('HGET', P .. 'own', host) == W then
    call('SADD', P .. 'k:' .. W, host)
    touched[host] = true
  end
end
for _, host in ipairs(again) do
  if call('SREM', P .. 'k:' .. W, host) == 1 then touched[host] = true end
end
touch_all()

if ARGV[5] == '1' then
  local leased = call('HGETALL', P .. 'l:' .. W)
  for i = 1, #leased, 2 do
    local kept = call('HGET', P .. 'req', leased[i])
    if kept then add(leased[i], kept, leased[i + 1]) end
  end
end

if limit >= 0 then n = math.min(n, limit - number('pages') - number('leased')) end
local taken = {}
while n > 0 do
  local top = call('ZREVRANGE', P .. 'q:' .. W, 0, 0)[1]
  if not top then break end
  local host = string.sub(top, 7)
  local best = call('ZPOPMAX', P .. 'h:' .. host)
  local key = string.sub(best[1], 7)
  add(key, call('HGET', P .. 'req', key), best[2])
  call('HSET', P .. 'l:' .. W, key, best[2])
  count('waiting', -1)
  count('leased', 1)
  taken[host] = (taken[host] or 0) + 1
  if taken[host] == a_host then call('SADD', P .. 'k:' .. W, host) end
  touch(host)
  n = n - 1
end
write_counts()
return result

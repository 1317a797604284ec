-- Say that a worker lives, look after those that do not, and share the hosts out. ARGV: worker,
-- ms without a word after which a worker is gone, whether it is still starting, limit of pages or
-- -1, then four lists, each after its length: workers that are known to be gone, hosts that it
-- gives up, its hosts that are busy, and workers whose files it has cut. Returns the reason to stop
-- (or nothing), how many hosts it should give up, how many workers live, whether it was taken for
-- gone, how many hosts were met, the counts (waiting, leased, done, dropped, evicted, pages,
-- relevant), for each worker that was removed its number and what it was, and for each whose files
-- it should cut its number, what it was and its note.
local time = now()
call('HSET', P .. 'n', 'patience', ARGV[2])
beat(time)
local patience, limit = tonumber(ARGV[2]), tonumber(ARGV[4])
local at = 5
local function list()
  local found, length = {}, tonumber(ARGV[at])
  for i = 1, length do found[i] = ARGV[at + i] end
  at = at + length + 1
  return found
end
local gone, given, busy, tidied = list(), list(), list(), list()
call('HSET', P .. 'i:' .. W, 'starting', ARGV[3])
-- it was taken for gone, and is not: what it had leased waits, or others have it
local was_gone = call('HDEL', P .. 'i:' .. W, 'ended')

local grace = tonumber(call('HGET', P .. 'n', 'grace') or '0')
if time >= grace then
  for _, worker in ipairs(call('ZRANGEBYSCORE', P .. 'w', '-inf', time - patience)) do
    gone[#gone + 1] = worker
  end
end
local removed = {}
for _, worker in ipairs(gone) do
  if worker ~= W and live[worker] then
    remove(worker)
    removed[#removed + 1] = worker
    removed[#removed + 1] = call('HGET', P .. 'i:' .. worker, 'what') or ''
    call('HSET', P .. 'untidy', worker, '')
    call('HSET', P .. 'i:' .. worker, 'starting', '0', 'ended', 'gone')
    count('lost', 1)
  end
end
for _, worker in ipairs(call('SMEMBERS', P .. 'orphans')) do
  if not live[worker] then inherit(worker, 2000) end
end

-- Whose files are to be cut by this worker, since they are of its machine.
local function machine(worker)
  local what = call('HGET', P .. 'i:' .. worker, 'what')
  local known, table = pcall(cjson.decode, what or '')
  return known and type(table) == 'table' and table.machine or ''
end
for _, worker in ipairs(tidied) do call('HDEL', P .. 'untidy', worker) end
if was_gone == 1 then call('HDEL', P .. 'untidy', W) end
local untidy = {}
local left = call('HGETALL', P .. 'untidy')
for i = 1, #left, 2 do
  local taken = left[i + 1] ~= W and live[left[i + 1]]
  if not taken and machine(W) ~= '' and machine(left[i]) == machine(W) then
    call('HSET', P .. 'untidy', left[i], W)
    untidy[#untidy + 1] = left[i]
    untidy[#untidy + 1] = call('HGET', P .. 'i:' .. left[i], 'what') or ''
    untidy[#untidy + 1] = call('HGET', P .. 'i:' .. left[i], 'note') or ''
  end
end

-- A worker with nothing to ask for is given hosts by those that have more than one.
local function idle(worker, most)
  if call('ZCARD', P .. 'q:' .. worker) > 0 then return false end
  for _, host in ipairs(call('SRANDMEMBER', P .. 'k:' .. worker, most)) do
    if asks(host) then return false end
  end
  return true
end
call(idle(W, 64) and 'SADD' or 'SREM', P .. 'idle', W)

local takers = {}
for _, worker in ipairs(call('SMEMBERS', P .. 'idle')) do
  if live[worker] and worker ~= W then takers[#takers + 1] = worker end
end
table.sort(takers)
for i, host in ipairs(given) do
  if call('HGET', P .. 'own', host) == W then
    local to = takers[(i - 1) % math.max(#takers, 1) + 1]
    if to then give(host, to) end
  end
end
local wanted = 0
if #takers > 0 then
  local is_busy = {}
  for _, host in ipairs(busy) do is_busy[host] = true end
  local free, aside = {}, 0
  for i, member in ipairs(call('ZREVRANGE', P .. 'q:' .. W, 0, 2000)) do
    local host = string.sub(member, 7)
    if is_busy[host] or string.find(host, '%z') then
      aside = aside + 1
    else
      free[#free + 1] = host
    end
  end
  for _, host in ipairs(call('SMEMBERS', P .. 'k:' .. W)) do
    if asks(host) then
      if is_busy[host] then aside = aside + 1 else free[#free + 1] = host end
    end
  end
  local all = #free + aside
  wanted = all - math.ceil(all / (#takers + 1))
  for i = 1, #free do
    if wanted <= 0 then break end
    if i % 2 == 0 or i > #free - wanted then
      local to = takers[wanted % #takers + 1]
      give(free[i], to)
      call('SREM', P .. 'idle', to)
      wanted = wanted - 1
    end
  end
end
touch_all()
write_counts()

local starting = false
for _, worker in ipairs(live_list) do
  if call('HGET', P .. 'i:' .. worker, 'starting') == '1' then starting = true end
end
local reason = ''
if limit >= 0 and number('pages') >= limit then
  reason = 'page_limit'
elseif not starting and number('leased') == 0 then
  reason = 'finished'
  if number('waiting') > 0 then  -- is all of it held?
    reason = 'strategy_done'
    if call('EXISTS', P .. 'orphans') == 1 then reason = '' end
    for _, worker in ipairs(live_list) do
      if not idle(worker, 1000000) then reason = '' end
    end
  end
end
local sampled = call('LINDEX', P .. 'rate', -1)
if not sampled or time - tonumber(string.match(sampled, '^%d+')) >= 5000 then
  call('RPUSH', P .. 'rate', string.format('%.0f %.0f', time, number('pages')))
  call('LTRIM', P .. 'rate', -25, -1)
end
return {
  reason, wanted, #live_list, was_gone, call('HLEN', P .. 'own'),
  {number('waiting'), number('leased'), number('done'), number('dropped'), number('evicted'),
   number('pages'), number('relevant')},
  removed,
  untidy,
}

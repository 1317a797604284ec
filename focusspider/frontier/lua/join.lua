-- Let a worker into the crawl, which begins with its first one. ARGV: worker (nothing yet), format
-- version, name of the run, what the worker is (machine, process), then names and values that
-- every worker of the crawl must have in common. Returns the worker's number, the run, and the
-- first name with a value that differs, and that value.
local fresh = call('HSETNX', P .. 'n', 'format', ARGV[2]) == 1
local format = call('HGET', P .. 'n', 'format')
if format ~= ARGV[2] then return {'', '', 'format', format} end
for at = 5, #ARGV, 2 do
  if fresh then call('HSET', P .. 'n', ARGV[at], ARGV[at + 1]) end
  local kept = call('HGET', P .. 'n', ARGV[at])
  if kept ~= ARGV[at + 1] then return {'', '', ARGV[at], kept or ''} end
end
call('HSETNX', P .. 'n', 'run', ARGV[3])
local time = now()
W = tostring(call('HINCRBY', P .. 'n', 'workers', 1))
call('HSETNX', P .. 'n', 'started', string.format('%.0f', time))
call('HSET', P .. 'i:' .. W, 'what', ARGV[4], 'starting', '1')
call('ZADD', P .. 'w', time + 30000, W)  -- it needs a while to start
read_live()
for _, worker in ipairs(call('SMEMBERS', P .. 'orphans')) do inherit(worker, 10000) end
touch_all()
write_counts()
return {W, call('HGET', P .. 'n', 'run'), '', ''}

-- Say what became of leased requests. ARGV: worker, bound, bound of a host, whether to be strict,
-- whether pages are counted by host, a note of the worker (or nothing), how many pages there
-- are, those (number, what it is), then for each request: fingerprint, outcome (done, dropped,
-- again, replaced), page (0: none, 1: not relevant, 2: relevant), and where it is replaced host,
-- priority and payload. Returns the fingerprint and the state of each that was not leased.
beat(now())
local strict, by_host = ARGV[4] == '1', ARGV[5] == '1'
local wrong = {}

local function count_page(host, page)
  if page == '0' then return end
  count('pages', 1)
  if page == '2' then count('relevant', 1) end
  if by_host then call('HINCRBY', P .. 'hp', host, 1) end
  call('HINCRBY', P .. 'i:' .. W, 'pages', 1)
  if page == '2' then call('HINCRBY', P .. 'i:' .. W, 'relevant', 1) end
end

if ARGV[6] ~= '' then call('HSET', P .. 'i:' .. W, 'note', ARGV[6]) end
local at = 8
for _ = 1, tonumber(ARGV[7]) do
  call('HSET', P .. 'pg', ARGV[at], ARGV[at + 1])
  at = at + 2
end
while at <= #ARGV do
  local fingerprint, outcome, page = ARGV[at], ARGV[at + 1], ARGV[at + 2]
  local key, tail = string.sub(fingerprint, 1, 8), string.sub(fingerprint, 9)
  local host, priority, payload
  at = at + 3
  if outcome == 'replaced' then
    host, priority, payload = ARGV[at], ARGV[at + 1], ARGV[at + 2]
    at = at + 3
  end
  local kept = call('HGET', P .. 'req', key)
  local leased = call('HEXISTS', P .. 'l:' .. W, key) == 1
  local age, kept_tail, kept_host
  if kept then age, kept_tail, kept_host = unpacked(kept) end
  local same = kept and kept_tail == tail
  if leased and same then
    if outcome == 'again' then
      put_back(W, key)
    else
      call('HDEL', P .. 'l:' .. W, key)
      count('leased', -1)
      if outcome == 'replaced' then
        call('HSET', P .. 'req', key, record(age, tail, host, payload))
        call('ZADD', P .. 'h:' .. host, priority, age .. key)
        count('waiting', 1)
        touched[host] = true
      else
        finish(key, outcome)
        count_page(kept_host, page)
      end
    end
  else
    local state = 'not known'
    if same then
      state = call('ZSCORE', P .. 'h:' .. kept_host, age .. key) and 'waiting' or 'leased elsewhere'
    elseif not kept then
      state = finished(key) or state
    end
    wrong[#wrong + 1] = fingerprint
    wrong[#wrong + 1] = state
    if state == 'waiting' and not strict and (outcome == 'done' or outcome == 'dropped') then
      -- it was taken from a worker that could not be heard, and nobody else has it yet
      call('ZREM', P .. 'h:' .. kept_host, age .. key)
      count('waiting', -1)
      touched[kept_host] = true
      finish(key, outcome)
      count_page(kept_host, page)
    end
  end
end
local grown = {}
for host in pairs(touched) do grown[host] = true end
trim(tonumber(ARGV[2]), tonumber(ARGV[3]), grown, nothing)
touch_all()
write_counts()
return wrong

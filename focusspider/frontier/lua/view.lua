-- Show what waits at some hosts. ARGV: worker, how many requests at most, how many of the first
-- host to pass over, the hosts. Returns how many hosts were read to their end, how many requests of the
-- next one too, how many requests there are of each, and 22 bytes for each: age, key, priority.
local most, passed = tonumber(ARGV[2]), tonumber(ARGV[3])
local counts, parts, all = {}, {}, 0
local at = 4
while at <= #ARGV and all < most do
  local found = call('ZRANGE', P .. 'h:' .. ARGV[at], passed, passed + most - all - 1, 'WITHSCORES')
  for i = 1, #found, 2 do
    parts[#parts + 1] = found[i] .. struct.pack('>d', tonumber(found[i + 1]))
  end
  counts[#counts + 1] = #found / 2
  all = all + #found / 2
  if all >= most and passed + #found / 2 < call('ZCARD', P .. 'h:' .. ARGV[at]) then
    passed = passed + #found / 2
    break
  end
  passed = 0
  at = at + 1
end
return {at - 4, passed, counts, table.concat(parts)}

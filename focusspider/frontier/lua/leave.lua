-- Let a worker go. ARGV: worker, bound, bound of a host, why.
read_live()
if live[W] then
  remove(W)
  local grown = {}
  for _, host in ipairs(call('HKEYS', P .. 'own')) do grown[host] = true end
  trim(tonumber(ARGV[2]), tonumber(ARGV[3]), grown, nothing)
  touch_all()
end
call('HSET', P .. 'i:' .. W, 'starting', '0', 'ended', ARGV[4])
write_counts()
return 0

-- Let a worker go. ARGV: worker, bound, bound of a host, why.
read_live()
if live[W] then
  remove(W)
  trim(tonumber(ARGV[2]), tonumber(ARGV[3]), nothing)
  touch_all()
end
call('HSET', P .. 'i:' .. W, 'starting', '0', 'ended', ARGV[4])
write_counts()
return 0

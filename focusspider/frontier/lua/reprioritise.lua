-- Give waiting requests new priorities: (host, member, priority) each, after the worker.
beat(now())
for at = 2, #ARGV, 3 do
  local host, member = ARGV[at], ARGV[at + 1]
  if call('ZADD', P .. 'h:' .. host, 'XX', 'CH', ARGV[at + 2], member) == 1 then
    touched[host] = true
  end
end
touch_all()
return 0

-- Has the pools in whose lines a session stands served again: it lives (again), so it may be given what is free.
-- @include lib/split
local function line_touch(session)
  for _, member in ipairs(redis.call('ZRANGEBYLEX', LINE, '[s|' .. session .. '|', '(s|' .. session .. '|\255')) do
    board.pools[split(member)[3]] = true
  end
end

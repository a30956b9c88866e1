-- The pool's cap: what is free and not kept for others, or this session's own hold. A session that would be refused settles
-- its own ending slots first, oldest first, as many as it needs; then it joins the line. Returns cause and place, or nil for
-- both, and how many slots are used now.
-- @include lib/line_join
-- @include lib/line_leave
-- @include lib/line_of
-- @include lib/line_place
-- @include lib/slot_end
-- @include lib/slots_of
local function spawn_pool(pool, effective, used, held)
  local own = held > 0 and redis.call('ZSCORE', HOLDS, pool .. '|' .. session) and 1 or 0
  local function full() return effective - used - (held - own) <= 0 end
  for _, one in ipairs(full() and slots_of(session) or {}) do
    if full() and one.slot.pool == pool and one.slot.state == 'ending' then
      slot_end(one.id, one.slot, 'ended')
      used = used - 1
    end
  end
  if not full() then
    if line_of(pool, session) then
      line_leave(pool, session)
      event(own == 1 and 'hold_used' or 'line_left', 'session', session, 'pool', pool)
    end
    return nil, nil, used
  end
  local limits = board.limits['p|' .. pool]
  local cause = 'full'
  if used < effective then
    cause = 'held'
  elseif limits.limitedBy and used < limits.highest then
    cause = limits.limitedBy
  end
  return cause, line_place(pool, line_join(pool, session)), used
end

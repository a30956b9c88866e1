-- Catches up with whatever happened since the last call: time, a new board, the end of its settling, what the caller
-- vouches for, what is late or has lapsed, the load; then serves what these freed.
-- @include lib/load_note
-- @include lib/made
-- @include lib/move_time
-- @include lib/promote
-- @include lib/promote_pools
-- @include lib/sweep
-- @include lib/touch
-- @include lib/vouched
local function catch_up()
  if not board.meta.epoch then made() else move_time() end
  local settle = tonumber(board.meta.settleUntil) or 0
  board.settling = settle > board.now
  if settle > 0 and not board.settling then
    set('settleUntil', '0')
    event('board_settled')
  end
  -- A lease that was moved on may be of somebody who was passed over as lapsed.
  if (settle > 0 and not board.settling) or board.gap > 0 then
    for _, name in ipairs(redis.call('HKEYS', LIMITS)) do touch(name) end
  end
  for _, seen in ipairs(vouch ~= '' and cjson.decode(vouch) or {}) do vouched(seen) end
  sweep()
  load_note()
  promote()
  promote_pools()
end

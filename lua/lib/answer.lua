-- Writes `meta`, keeps the event stream within 100,000 entries, tells watchers that the board changed, and returns the
-- verdict with its fields and those that every answer has: epoch, now, settleMs (until a new board grants again, "0": it
-- does), suspects (JSON: participants the caller should look at, "" = none).
local function answer(reply)
  local flat = { 'lastOp', board.at }
  for name, value in pairs(board.write) do
    flat[#flat + 1], flat[#flat + 2] = name, value
  end
  redis.call('HSET', META, unpack(flat))
  if board.changed then
    local length = redis.call('XLEN', EVENTS)
    if length > 101000 then
      local from = redis.call('XRANGE', EVENTS, '-', '+', 'COUNT', 1)[1][1]
      redis.call('XTRIM', EVENTS, 'MAXLEN', 100000)
      local to = redis.call('XRANGE', EVENTS, '-', '+', 'COUNT', 1)[1][1]
      event('events_trimmed', 'count', length - 100000, 'from', from, 'to', to)
    end
    redis.call('PUBLISH', channel .. 'board', reply[1])
  end
  return { reply[1], 'epoch', board.meta.epoch, 'now', board.at,
    'settleMs', board.settling and string.format('%d', board.meta.settleUntil - board.now) or '0',
    'suspects', #board.suspects > 0 and cjson.encode(board.suspects) or '', unpack(reply, 2) }
end

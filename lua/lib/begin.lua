-- Reads the clock and `meta`. Returns true when nothing has to be caught up with: a known board, time that went on as it
-- should, nobody late, no deadline passed, nothing vouched for, no load cap in use. That is the usual case, and cheap.
local function begin()
  local now, micros = clock()
  local v = redis.call('HMGET', META, 'schema', 'epoch', 'settleUntil', 'lastOp', 'lastBeat', 'movedAt', 'ticket', 'fence',
    'lease', 'loadSteps', 'loadStep', 'policyCount')
  -- One constructor, so that Lua makes the table in its final size at once: field by field it would grow five times.
  local meta = { schema = v[1] or nil, epoch = v[2] or nil, settleUntil = v[3] or nil, lastOp = v[4] or nil,
    lastBeat = v[5] or nil, movedAt = v[6] or nil, ticket = v[7] or nil, fence = v[8] or nil, lease = v[9] or nil,
    loadSteps = v[10] or nil, loadStep = v[11] or nil, policyCount = v[12] or nil }
  board.meta = meta
  local last, beat, moved = tonumber(meta.lastOp) or now, tonumber(meta.lastBeat) or now, tonumber(meta.movedAt) or 0
  board.micros, board.lease = micros, tonumber(meta.lease) or 10000
  board.now = (now < last and last - now <= 1000) and last or now
  board.at = string.format('%d', board.now)
  board.set_back = board.now < last and last - now or 0
  board.gap = (board.now - beat > math.max(board.lease / 2, 3000) and moved <= beat) and board.now - beat or 0
  board.crowded = redis.call('EXISTS', WAITING, NEST, PAUSE) > 0
  board.paused = board.crowded and redis.call('EXISTS', PAUSE) == 1
  return meta.schema == '1' and board.set_back == 0 and board.gap == 0 and vouch == '' and meta.loadSteps == ''
    and meta.settleUntil == '0' and redis.call('ZCOUNT', DEADLINES, '-inf', board.at) == 0
    and redis.call('ZCOUNT', LEASES, '-inf', string.format('%d', board.now + math.max(board.lease - 3000, 0))) == 0
end

-- Reads the clock and `meta`. Returns true when nothing has to be caught up with: a known board, time that went on as it
-- should, nobody late, no deadline passed, nothing vouched for, no load cap in use. That is the usual case, and cheap.
local META_FIELDS = { 'schema', 'epoch', 'settleUntil', 'lastOp', 'lastBeat', 'movedAt', 'ticket', 'fence', 'lease',
  'loadSteps', 'loadStep', 'policyCount' }

local function begin()
  local now, micros = clock()
  local values = redis.call('HMGET', META, unpack(META_FIELDS))
  local meta = board.meta
  for i, name in ipairs(META_FIELDS) do meta[name] = values[i] or nil end
  local last, beat, moved = tonumber(meta.lastOp) or now, tonumber(meta.lastBeat) or now, tonumber(meta.movedAt) or 0
  board.micros, board.lease, board.load = micros, tonumber(meta.lease) or 10000, tonumber(load) or 0
  board.now = (now < last and last - now <= 1000) and last or now
  board.at = string.format('%d', board.now)
  board.set_back = board.now < last and last - now or 0
  board.gap = (board.now - beat > board.lease / 2 and moved <= beat) and board.now - beat or 0
  board.crowded = redis.call('EXISTS', WAITING, NEST) > 0
  return meta.schema == '1' and board.set_back == 0 and board.gap == 0 and vouch == '' and meta.loadSteps == ''
    and meta.settleUntil == '0' and redis.call('ZCOUNT', DEADLINES, '-inf', board.now) == 0
    and redis.call('ZCOUNT', LEASES, '-inf', board.now + board.lease - 3000) == 0
end

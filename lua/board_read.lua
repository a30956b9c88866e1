-- Reads the whole board in one step; changes nothing and makes no board.
--
-- board now epoch settleMs lease jobs late limits policies order sessions slots poolLimits line holds paused   JSON: jobs (a list),
--                                            limits (by queue), poolLimits, policies, sessions, slots (by name or id), line, holds
--                                            (lists of {pool, session, ticket / until}), paused ("" = not); late: ids whose beat is
--                                            overdue; order: ids of waiting jobs as they will be served
-- empty now                                  there is no board
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, LIMITS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, SESSIONS, SLOTS, LINE, HOLDS, PAUSE = unpack(KEYS)
-- @include lib/board
-- @include lib/clock
-- @include lib/object
-- @include lib/pause_read
-- @include lib/pools_read
-- @include lib/service_order

board.now = clock()
board.paused = redis.call('EXISTS', PAUSE) == 1
local now = string.format('%d', board.now)
local epoch, settle, lease, schema = unpack(redis.call('HMGET', META, 'epoch', 'settleUntil', 'lease', 'schema'))
if not epoch then return { 'empty', 'now', now } end
if schema ~= '1' then return { 'newerSchema', 'schema', schema } end
lease = tonumber(lease) or 10000

local late = {}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', board.now + math.max(lease - 3000, 0))) do
  late[#late + 1] = string.sub(member, 3)
end
local order = {}
local all = redis.call('HGETALL', LIMITS)
for i = 1, #all, 2 do
  if string.sub(all[i], 1, 2) == 'q|' then service_order(string.sub(all[i], 3), cjson.decode(all[i + 1]), order) end
end
local function list(key) return '[' .. table.concat(redis.call('HVALS', key), ',') .. ']' end
local line, holds = pools_read()
return { 'board', 'now', now, 'epoch', epoch,
  'settleMs', string.format('%d', math.max(0, (tonumber(settle) or 0) - board.now)), 'lease', string.format('%d', lease),
  'jobs', list(JOBS), 'late', table.concat(late, ' '), 'limits', object(LIMITS, 'q|'), 'policies', object(POLICIES, ''),
  'order', table.concat(order, ' '), 'sessions', object(SESSIONS, ''), 'slots', object(SLOTS, ''),
  'poolLimits', object(LIMITS, 'p|'), 'line', line, 'holds', holds,
  'paused', pause_read() }

-- Reads the whole board in one step; changes nothing and makes no board.
--
-- board now epoch settleMs lease jobs late limits policies order   jobs, policies: JSON lists; late: ids whose beat is
--                                            overdue; limits: JSON by queue; order: ids of waiting jobs as they will be served
-- empty now                                  there is no board
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, LIMITS, LEASES, JOBS, WAITING, RUNNING, TURNS, SERVED = unpack(KEYS)
-- @include lib/board
-- @include lib/clock
-- @include lib/service_order

board.now = clock()
local now = string.format('%d', board.now)
local epoch, settle, lease, schema = unpack(redis.call('HMGET', META, 'epoch', 'settleUntil', 'lease', 'schema'))
if not epoch then return { 'empty', 'now', now } end
if schema ~= '1' then return { 'newerSchema', 'schema', schema } end
lease = tonumber(lease)

local late = {}
for _, member in ipairs(redis.call('ZRANGEBYSCORE', LEASES, '-inf', board.now + math.max(lease - 3000, 0))) do
  late[#late + 1] = string.sub(member, 3)
end
local limits, order = {}, {}
local all = redis.call('HGETALL', LIMITS)
for i = 1, #all, 2 do
  local queue = string.sub(all[i], 3)
  limits[#limits + 1] = cjson.encode(queue) .. ':' .. all[i + 1]
  service_order(queue, cjson.decode(all[i + 1]), order)
end
local policies = redis.call('HGETALL', POLICIES)
local texts = {}
for i = 1, #policies, 2 do texts[#texts + 1] = cjson.encode(policies[i]) .. ':' .. policies[i + 1] end
return { 'board', 'now', now, 'epoch', epoch,
  'settleMs', string.format('%d', math.max(0, (tonumber(settle) or 0) - board.now)), 'lease', tostring(lease),
  'jobs', '[' .. table.concat(redis.call('HVALS', JOBS), ',') .. ']', 'late', table.concat(late, ' '),
  'limits', '{' .. table.concat(limits, ',') .. '}', 'policies', '{' .. table.concat(texts, ',') .. '}',
  'order', table.concat(order, ' ') }

-- Notes the caller's 1-minute load; the highest that is younger than one lease counts. The limits are computed anew only
-- when it crosses a threshold that some live policy names.
-- @include lib/limits_compute
-- @include lib/load_step
local function load_note()
  if (board.meta.loadSteps or '') == '' then return end
  if load ~= '' then redis.call('HSET', LOADS, machine, cjson.encode({ load = tonumber(load), at = board.now })) end
  local highest = 0
  local all = redis.call('HGETALL', LOADS)
  for i = 1, #all, 2 do
    local seen = cjson.decode(all[i + 1])
    if board.now - seen.at > board.lease or seen.at > board.now then
      redis.call('HDEL', LOADS, all[i])
    elseif seen.load > highest then
      highest = seen.load
    end
  end
  board.load = highest
  if tostring(load_step(highest)) ~= board.meta.loadStep then limits_compute() end
end

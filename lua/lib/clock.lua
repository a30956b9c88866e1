-- The board's one clock, Redis' own: milliseconds and microseconds. Tests put another file in its place.
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000), time[1] * 1000000 + time[2]
end

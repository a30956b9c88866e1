-- Folds one policy's lanes into those known so far: the smallest reserve and max, the newest priority.
-- @include lib/least
local function lane_limits(into, lanes)
  for name, lane in pairs(lanes or {}) do
    local known = into[name] or {}
    local reserved = least(known.reserved, lane.reserved or 0)
    into[name] = { priority = lane.priority or 0, reserved = reserved, max = least(known.max, lane.max) }
  end
end

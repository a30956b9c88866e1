-- Who is first in a lane (nil: nobody), and the rank by which it stands against the heads of other lanes.
-- @include lib/first
-- @include lib/split
local function lane_head(queue, limits, lane)
  local prefix = queue .. '|' .. lane .. '|'
  if limits.order ~= 'fair-share' then
    local member = first(WAITING, 'q|' .. prefix)
    if not member then return nil end
    local parts = split(member)
    return parts[5], parts[4]
  end
  local turn = first(TURNS, prefix)
  if not turn then return nil end
  local parts = split(turn)
  local member = split(first(WAITING, 'o|' .. queue .. '|' .. parts[5] .. '|' .. lane .. '|'))
  return member[6], parts[3] .. parts[4] .. member[5]
end

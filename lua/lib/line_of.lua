-- A session's ticket in a pool's line, or nil.
-- @include lib/first
-- @include lib/split
local function line_of(pool, session)
  local member = first(LINE, 's|' .. session .. '|' .. pool .. '|')
  return member and split(member)[4]
end

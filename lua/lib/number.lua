-- The next ticket or fence, 16 digits: the last + 1 or the microseconds of now, so neither goes back after a flush.
-- @include lib/set
local function number(name)
  local last = math.max((tonumber(board.meta[name]) or 0) + 1, board.micros)
  set(name, string.format('%016d', last))
  return board.meta[name]
end

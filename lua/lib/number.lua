-- The next ticket or fence, 16 digits: the last + 1 or the microseconds of now, so neither goes back after a flush.
-- @include lib/set
local function number(name)
  local next, last = string.format('%016d', board.micros), board.meta[name]
  if last and last >= next then next = string.format('%016d', last + 1) end
  set(name, next)
  return next
end

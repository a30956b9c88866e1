-- Raises the counter of tickets or fences to one that a living participant brings along.
-- @include lib/set
local function raise(name, seen)
  if #seen == 16 and seen > (board.meta[name] or '') then set(name, seen) end
end

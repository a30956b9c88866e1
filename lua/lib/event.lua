-- Appends one event, in the order in which the board changed; fields are name, value, name, value.
local function event(kind, ...)
  board.changed = true
  redis.call('XADD', EVENTS, '*', 'type', kind, 'at', board.at, ...)
end

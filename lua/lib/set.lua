-- Sets a field of `meta`, written at the end of the call.
local function set(name, value)
  board.meta[name], board.write[name] = value, value
end

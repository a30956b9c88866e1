-- Names a participant of the caller's own machine to it, once and at most 32, to be looked for in its process table.
local function suspect(kind, id, one)
  if one.machine ~= machine or #board.suspects >= 32 then return end
  for _, named in ipairs(board.suspects) do
    if named.id == id then return end
  end
  board.suspects[#board.suspects + 1] = { kind = kind, id = id, state = one.state, process = one.process, machine = one.machine,
    bridge = one.bridge }
end

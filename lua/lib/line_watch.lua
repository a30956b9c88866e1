-- The sessions of the caller's machine that stand between a session and its turn: those that hold slots of the pools it
-- waits for, and those before it in line; at most 32, to be looked for in the process table once a second.
-- @include lib/session_get
-- @include lib/slot_get
-- @include lib/split
local function line_watch(id, line)
  local found, seen = {}, { [id] = true }
  local function see(other)
    if seen[other] or #found >= 32 then return end
    seen[other] = true
    local one = session_get(other)
    if not one or one.machine ~= machine then return end
    found[#found + 1] = { kind = 'session', id = other, machine = machine, process = one.process, bridge = one.bridge }
  end
  for _, wait in ipairs(line) do
    local prefix = 'p|' .. wait.pool .. '|'
    for _, member in ipairs(redis.call('ZRANGEBYLEX', SEATS, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', 0, 200)) do
      local slot = slot_get(split(member)[3])
      if slot then see(slot.session) end
    end
    for _, member in ipairs(redis.call('ZRANGEBYLEX', LINE, '[' .. prefix, '(' .. prefix .. wait.ticket, 'LIMIT', 0, 32)) do
      see(split(member)[4])
    end
  end
  return found
end

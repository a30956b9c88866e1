-- The other sessions of the board by letter, with their processes: whoever joins looks whether they live.
local function session_others(id)
  local others = {}
  local all = redis.call('HGETALL', SESSIONS)
  for i = 1, #all, 2 do
    local one = cjson.decode(all[i + 1])
    if all[i] ~= id then
      others[#others + 1] = { kind = 'session', id = all[i], label = one.label, cwd = one.cwd, machine = one.machine,
        process = one.process, bridge = one.bridge }
    end
  end
  table.sort(others, function(a, b)
    if #a.label ~= #b.label then return #a.label < #b.label end
    return a.label < b.label
  end)
  return others
end

-- The other sessions of the board, as {label, cwd}, by letter.
local function session_others(id)
  local others = {}
  local all = redis.call('HGETALL', SESSIONS)
  for i = 1, #all, 2 do
    local one = cjson.decode(all[i + 1])
    if all[i] ~= id then others[#others + 1] = { label = one.label, cwd = one.cwd } end
  end
  table.sort(others, function(a, b)
    if #a.label ~= #b.label then return #a.label < #b.label end
    return a.label < b.label
  end)
  return others
end

-- The fields of a hash that start with a prefix, as one JSON object by their names without it; values are JSON already.
local function object(key, prefix)
  local found = {}
  local all = redis.call('HGETALL', key)
  for i = 1, #all, 2 do
    if string.sub(all[i], 1, #prefix) == prefix then
      found[#found + 1] = cjson.encode(string.sub(all[i], #prefix + 1)) .. ':' .. all[i + 1]
    end
  end
  return '{' .. table.concat(found, ',') .. '}'
end

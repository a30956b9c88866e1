-- The files of live policies other than the joining session's, as JSON.
local function policies_other()
  local files = {}
  local all = redis.call('HGETALL', POLICIES)
  for i = 1, #all, 2 do
    local content = cjson.decode(all[i + 1])
    if all[i] ~= policy and not content.fallback then files[#files + 1] = content.source or '' end
  end
  table.sort(files)
  return #files > 0 and cjson.encode(files) or '[]'
end

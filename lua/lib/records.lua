-- The records of jobs named by lexical members, as one JSON list; nothing is decoded.
-- @include lib/split
local function records(members, at)
  local ids = {}
  for i, member in ipairs(members) do ids[i] = split(member)[at] end
  if #ids == 0 then return '[]' end
  local found = {}
  for _, json in ipairs(redis.call('HMGET', JOBS, unpack(ids))) do
    if json then found[#found + 1] = json end
  end
  return '[' .. table.concat(found, ',') .. ']'
end

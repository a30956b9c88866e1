-- An agent slot's record, or nil.
local function slot_get(id)
  local json = redis.call('HGET', SLOTS, id)
  return json and cjson.decode(json)
end

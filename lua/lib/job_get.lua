-- A job's record, or nil.
local function job_get(id)
  local json = redis.call('HGET', JOBS, id)
  return json and cjson.decode(json)
end

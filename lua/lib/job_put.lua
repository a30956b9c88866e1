-- Writes a job's record.
local function job_put(id, job)
  redis.call('HSET', JOBS, id, cjson.encode(job))
end

-- A job's two members in `waiting` or `running`: by its lane, and by its owner.
local function places(id, job)
  local lane = job.queue .. '|' .. job.lane .. '|'
  local tail = job.ticket .. '|' .. id
  return 'q|' .. lane .. tail, 'o|' .. lane .. job.owner .. '|' .. tail
end

-- A job's two members in `waiting` or `running`: by its lane, and by its owner.
local function places(id, job)
  local tail = '|' .. job.ticket .. '|' .. id
  return 'q|' .. job.queue .. '|' .. job.lane .. tail, 'o|' .. job.queue .. '|' .. job.owner .. '|' .. job.lane .. tail
end

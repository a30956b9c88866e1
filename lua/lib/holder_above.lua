-- The job whose slot of this queue a new job would run in: the nearest ancestor that runs in the queue, or the one
-- that this ancestor itself runs inside. Returns it and the ids of all ancestors.
local function holder_above(queue, parent)
  local ancestors, holder, id = {}, nil, parent
  while id and not ancestors[id] do
    local job = job_get(id)
    if not job then break end
    ancestors[id] = true
    if not holder and job.queue == queue and job.state ~= 'waiting' and job.state ~= 'away' then
      holder = job.inside or id
    end
    id = job.parent
  end
  return holder, ancestors
end

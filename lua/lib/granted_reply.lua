-- What is told of a job that has a slot, or runs inside one.
local function granted_reply(verdict, job)
  return { verdict, 'fence', job.fence, 'ticket', job.ticket, 'limitMs', job.limitMs and string.format('%d', job.limitMs) or '',
    'owner', job.owner, 'inside', job.inside or '' }
end

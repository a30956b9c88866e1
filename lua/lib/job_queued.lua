-- The event of a job that came: all that is known of it, so that the log can tell it without the board.
local function job_queued(id, job)
  local fields = { 'job', id, 'queue', job.queue, 'lane', job.lane, 'owner', job.owner, 'ticket', job.ticket }
  for _, name in ipairs({ 'session', 'agent', 'parent', 'label', 'command', 'cwd', 'machine', 'policy' }) do
    if job[name] then
      fields[#fields + 1] = name
      fields[#fields + 1] = job[name]
    end
  end
  event('job_queued', unpack(fields))
end

-- Confirms a grant: the command is run only on `started`. Asked again it answers the same.
--
-- started fence ticket limitMs owner inside  the slot is the job's; limitMs: "" = none
-- expired how cause by at                    the job has ended, or this grant has lapsed (how: lapsed)
-- notYours                                   the id belongs to another process
-- unknown                                    the board does not know it: register again
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local job, instance, fence,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/granted_reply
-- @include lib/job_started
local reply
local known = job_get(job)
if not known then
  -- @include lib/ended_reply
  reply = ended_reply(job, 'expired')
elseif known.process.instance ~= instance then
  event('stale_call', 'job', job, 'call', 'job_start')
  reply = { 'notYours' }
elseif known.fence ~= fence then
  event('stale_call', 'job', job, 'call', 'job_start')
  reply = { 'expired', 'how', 'lapsed', 'cause', 'the grant was not confirmed in time', 'by', '', 'at', '' }
else
  if known.state == 'granted' then
    -- @include lib/renew
    renew('j|' .. job)
    job_started(job, known)
  end
  reply = granted_reply('started', known)
end
-- @include lib/close

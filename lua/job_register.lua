-- A living job that the board has lost (flushed, restarted, moved, or ran uncoordinated) comes back with all it has: its
-- ticket, its fence, what it does (running, stopped, waiting) and since when. What runs counts, whatever the caps say.
--
-- running fence ticket limitMs owner inside  it stands on the board as running
-- waiting ticket queuedAt cause place about holders ahead   it stands in line at its old ticket; see job_enqueue
-- granted fence ticket limitMs owner inside  it was in line and a slot is held for it: confirm with job_start
-- ended how cause by at                      it was cancelled or has finished meanwhile
-- notYours                                   the id belongs to another process
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local job, queue, lane, state, ticket, fence, inside, policy, policy_json, record,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/granted_reply
-- @include lib/job_return
-- @include lib/policy_leave
-- @include lib/promote
-- @include lib/renew
-- @include lib/waiting_reply

-- Whether the board has a running job as it is. It has not when the job was let through while the board was away, or when
-- the server lost the last second before it died.
local function stands(known)
  local seated = known.state ~= 'waiting' and known.state ~= 'away' and known.state ~= 'granted'
  return seated and (fence == '' or known.fence == fence)
end

local reply
local mine = cjson.decode(record)
local known = job_get(job)
local ended = not known and redis.call('HGET', ENDED, job)
if known and known.process.instance ~= mine.process.instance then
  reply = { 'notYours' }
elseif ended and cjson.decode(ended).how ~= 'lost' then
  -- @include lib/ended_reply
  reply = ended_reply(job)
else
  local kept = known and known.policy
  if known and state ~= 'waiting' and not stands(known) then
    -- @include lib/job_unseat
    job_unseat(job, known)
    known = nil
  end
  if not known then
    job_return(job, mine)
    if kept then policy_leave(kept) end
  elseif known.state == 'away' then
    job_wait(job, known)
    event('job_back', 'job', job, 'queue', queue)
  end
  renew('j|' .. job)
  promote()
  known = job_get(job)
  if known.state == 'waiting' or known.state == 'away' then
    reply = waiting_reply(job, known)
  else
    -- One that believes it waits missed the answer to its job_start: it confirms once more.
    reply = granted_reply((known.state == 'granted' or state == 'waiting') and 'granted' or 'running', known)
  end
end
-- @include lib/close

-- A job's beat and a waiter's ask in one: renews the lease and says what has become of the job. state is what the runner
-- does: running, stopped or waiting; ahead "1" asks for those in front; policy "" or a changed one to use from here on.
--
-- running killBy killReason                  it runs on; killBy: somebody asked to kill it ("" = nobody)
-- waiting ticket queuedAt cause place about holders ahead   see job_enqueue
-- granted fence ticket limitMs owner inside  a slot is held for it: confirm with job_start
-- nested fence ticket limitMs owner inside   an ancestor holds the queue now: it runs inside that slot
-- ended how cause by at                      it has ended: cancelled, lost, finished
-- notYours                                   the id belongs to another process
-- unknown                                    the board does not know it: register again
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local job, instance, state, ahead, policy, policy_json,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/forget
-- @include lib/set
forget()
local reply
local known = job_get(job)
if not known then
  -- @include lib/ended_reply
  reply = ended_reply(job)
elseif known.process.instance ~= instance then
  reply = { 'notYours' }
else
  -- @include lib/renew
  if renew('j|' .. job) == 0 then set('lastBeat', board.at) end
  if policy ~= '' and policy ~= known.policy then
    -- @include lib/policy_change
    policy_change(job, known, policy, policy_json)
  end
  if known.state == 'away' or known.state == 'waiting' then
    -- @include lib/ask
    known = ask(job, known)
  end
  if known.state == 'away' or known.state == 'waiting' then
    -- @include lib/waiting_reply
    reply = waiting_reply(job, known, ahead == '1')
  elseif known.state == 'granted' or state == 'waiting' then
    -- (One that runs but believes it waits missed the answer to its job_start: it confirms once more.)
    -- @include lib/granted_reply
    reply = granted_reply(known.inside and 'nested' or 'granted', known)
  else
    if known.state ~= state and state ~= 'waiting' then
      known.state, known.pids = state, nil
      job_put(job, known)
      event(state == 'stopped' and 'job_stopped' or 'job_continued', 'job', job, 'queue', known.queue)
    end
    reply = { 'running', 'killBy', known.killBy or '', 'killReason', known.killReason or '' }
  end
end
-- @include lib/close

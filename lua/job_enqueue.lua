-- Asks for a slot of a queue: granted at once, or a place in line. The id is the caller's; asked again, it answers the
-- present state and changes nothing.
--
-- granted fence ticket limitMs owner inside   the slot is the job's, no confirmation needed; limitMs: "" = none
-- nested fence ticket limitMs owner inside   an ancestor holds this queue: the job runs inside that one's slot
-- waiting ticket queuedAt cause place about holders ahead   place: 1 = next; about: "1" = an estimate (fair share);
--                                            cause: full, settling, notListening; holders, ahead: JSON records
-- busy cause holders                         wait was "0": no slot now (full, settling), and nothing stays behind
-- knot cause holders                         the wait could never end: every holder waits for this very job
-- ended how cause by at                      this id has ended already
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local job, queue, lane, session, owner, parent, wait, limit_ms, policy, policy_json, record,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/granted_reply
-- @include lib/job_queued
-- @include lib/job_seat
-- @include lib/lane_admits
-- @include lib/least
-- @include lib/limits_of
local reply
local mine = job_get(job)
if mine then
  -- @include lib/job_started
  -- @include lib/waiting_reply
  if mine.state == 'granted' then job_started(job, mine) end
  local waits = mine.state == 'waiting' or mine.state == 'away'
  reply = waits and waiting_reply(job, mine) or granted_reply(mine.inside and 'nested' or 'granted', mine)
elseif redis.call('HEXISTS', ENDED, job) == 1 then
  -- @include lib/ended_reply
  reply = ended_reply(job)
else
  local sent = cjson.decode(record)
  local on_board = session ~= '' and redis.call('HEXISTS', SESSIONS, session) == 1 and session or nil
  mine = { id = job, queue = queue, lane = lane, policy = policy, machine = machine, queuedAt = board.now, state = nil,
    session = on_board, owner = on_board or owner, parent = parent ~= '' and parent or nil, process = sent.process,
    command = sent.command, label = sent.label, cwd = sent.cwd, agent = sent.agent, wake = sent.wake, limitMs = nil,
    ticket = nil, fence = nil, grantedAt = nil, startedAt = nil, inside = nil }

  redis.call('ZADD', POLICY_USE, '0', policy .. '|j|' .. job)
  if redis.call('HEXISTS', POLICIES, policy) == 0 then
    -- @include lib/policy_join
    policy_join(policy, policy_json)
    -- @include lib/promote
    promote()
  end
  mine.limitMs = least(limits_of(queue).timeLimitMs, tonumber(limit_ms))

  local holder, ancestors = nil, {}
  if mine.parent then
    -- @include lib/holder_above
    holder, ancestors = holder_above(queue, mine.parent)
  end
  local free = not board.settling and (holder or (not board.paused and lane_admits(queue, limits_of(queue), lane)))
  if not free then
    -- @include lib/enqueue_behind
    reply = enqueue_behind(job, mine, ancestors)
  else
    mine.ticket = number('ticket')
    -- @include lib/renew
    renew('j|' .. job)
    job_queued(job, mine)
    if mine.parent or board.crowded then
      -- @include lib/enqueue_among
      enqueue_among(job, mine, holder)
    else
      job_seat(job, mine, 'running')
    end
    event('job_started', 'job', job, 'queue', queue, 'lane', lane, 'owner', mine.owner, 'fence', mine.fence,
      'inside', mine.inside or '')
    reply = granted_reply(holder and 'nested' or 'granted', mine)
  end
end
-- @include lib/close

-- Ends a running job and grants its slot to the next in the same step. outcome: ok, failed, signal, timedOut, killed,
-- notFound, notExecutable; code, signal: numbers or ""; leftovers: "pid name, …" or "".
--
-- released alone                             done, also when asked again with the same token; alone: "1": nobody lives here now
-- notYours                                   another process or another grant holds it: nothing is changed
-- expired how cause by at                    it has ended otherwise before
-- unknown                                    the board never knew it, or forgot it: nothing is changed
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local job, instance, fence, outcome, code, signal, leftovers,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/job_drop
local reply
local known = job_get(job)
if not known then
  -- @include lib/finished_before
  reply = finished_before(job, instance, fence)
elseif known.process.instance ~= instance or known.fence ~= fence then
  event('stale_call', 'job', job, 'call', 'job_finish')
  reply = { 'notYours' }
else
  local drop = job_drop
  if board.crowded or known.parent or board.meta.policyCount ~= '1' then
    -- @include lib/job_end
    drop = job_end
  end
  local how = { how = 'finished', outcome = outcome, code = tonumber(code), signal = tonumber(signal), by = known.killBy }
  drop(job, known, how, 'job_finished', 'outcome', outcome, 'code', code, 'signal', signal, 'leftovers', leftovers,
    'fence', fence, 'ranMs', string.format('%d', math.max(0, board.now - (known.startedAt or board.now))))
  reply = { 'released', 'alone', redis.call('EXISTS', LEASES) == 0 and '1' or '' }
end
-- @include lib/close

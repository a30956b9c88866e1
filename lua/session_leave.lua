-- Ends a session. reason: exit, signal (agents mid-run can be revived later), new, switch, branch (they count as ended).
--
-- left alone                                 alone: "1": nobody lives here now
-- ended how cause by at                      it had ended before
-- notYours                                   the id belongs to another process
-- unknown                                    no such session
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local session, instance, reason,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/session_end
-- @include lib/session_get
local reply
local known = session_get(session)
if not known then
  -- @include lib/ended_reply
  reply = ended_reply(session)
elseif known.process.instance ~= instance then
  reply = { 'notYours' }
else
  session_end(session, known, { how = reason }, reason ~= 'exit' and reason ~= 'signal')
  reply = { 'left', 'alone', redis.call('EXISTS', LEASES) == 0 and '1' or '' }
end
-- @include lib/close

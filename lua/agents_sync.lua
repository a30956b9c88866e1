-- What really runs in a session: an agent absent from two lists in a row has ended, one that nobody announced is counted.
-- agents: JSON [{id, type, parent{id, kind}, slot}], slot: the id of a place for it if it has none.
--
-- synced started allowance why             started: JSON [{id, pool, overBy, unqueued}], those whose run began by this list, as
--                                            agent_started says of each; overBy: a number
-- unknown                                    the board does not know the session: join again
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local session, agents,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/session_get
local reply
local known = session_get(session)
if not known then
  reply = { 'unknown' }
else
  -- @include lib/allowance
  -- @include lib/sync
  local began = sync(session, known, cjson.decode(agents))
  local allowed, why = allowance(session, known)
  reply = { 'synced', 'started', #began > 0 and cjson.encode(began) or '[]', 'allowance', allowed, 'why', why }
end
-- @include lib/close

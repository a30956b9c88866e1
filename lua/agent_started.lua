-- An agent's run began: its approved slot runs, one that was ending goes on, or it is counted without approval. slot: the
-- id of a new place; unqueued: revived or eval, what it would be without approval.
--
-- started overBy pool unqueued allowance why   overBy: by how many the pool is over its cap through this start, "0" = not;
--                                            unqueued: "" = it was approved, or how it came (revived, eval)
-- unknown                                    the board does not know the session: join again
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local session, slot, agent, parent, parent_kind, type, unqueued,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/session_get
local reply
local known = session_get(session)
if not known then
  reply = { 'unknown' }
else
  -- @include lib/allowance
  -- @include lib/slots_of
  -- @include lib/start
  local started = { id = agent, parent = parent, kind = parent_kind, type = type }
  local over, pool, mark = start(session, known, started, slot, unqueued, slots_of(session))
  local allowed, why = allowance(session, known)
  reply = { 'started', 'overBy', string.format('%d', over), 'pool', pool or '', 'unqueued', mark or '', 'allowance', allowed, 'why', why }
end
-- @include lib/close

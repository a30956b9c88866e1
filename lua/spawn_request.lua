-- May this session start an agent? slot: the id of the place that it would take; parent_kind: main or sub; key: the
-- agent's id if it is known, else ""; invocation: task or eval.
--
-- approved pool used cap unqueued allowance why   a slot waits for the start; used: the pool's slots before this one; pool "":
--                                            counted, not capped; unqueued: "eval" or ""
-- refused cause pool used cap place holders allowed allowance why   cause: full, held, paused, load, policy, settling, nestedType,
--                                            nestedFull; place: in line, 1 = next, "" none; holders: JSON [{label, n}]
-- unknown                                    the board does not know the session: join again
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local session, slot, parent, parent_kind, type, key, invocation,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/session_get
local reply
local known = session_get(session)
if not known then
  reply = { 'unknown' }
else
  -- @include lib/spawn
  reply = spawn(known)
end
-- @include lib/close

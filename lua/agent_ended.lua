-- An agent's run ended: it still counts for 500 ms, since omp's runs flicker, then its slot is free.
--
-- ending allowance why                       or it was not running: nothing is changed
-- unknown                                    the board does not know the session: join again
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local session, agent,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/session_get
local reply
local known = session_get(session)
if not known then
  reply = { 'unknown' }
else
  -- @include lib/allowance
  -- @include lib/slot_put
  -- @include lib/slots_of
  for _, one in ipairs(slots_of(session)) do
    if one.slot.agent == agent and one.slot.state == 'running' then
      one.slot.state = 'ending'
      slot_put(one.id, one.slot)
      redis.call('ZADD', DEADLINES, board.now + 500, 'end|' .. one.id)
      event('run_ending', 'session', session, 'slot', one.id, 'agentId', agent)
    end
  end
  local allowed, why = allowance(session, known)
  reply = { 'ending', 'allowance', allowed, 'why', why }
end
-- @include lib/close

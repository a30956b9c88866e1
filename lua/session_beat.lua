-- A session's beat: renews its lease and returns all that the session must know. agents: the hash of the agents that
-- really run; policy "" or a changed one to use from here on.
--
-- alive label holds line pools paused allowance why watch waitingJobs sync   holds: JSON [{pool, until, ticket}]; line: JSON
--                                            [{pool, place, ticket}]; pools: JSON [{name, used, cap}]; watch: JSON, sessions of
--                                            this machine that it waits for, as suspects; allowance: "" = do not drive omp's
--                                            queue, why: the reason (paused, others, eval, none); sync: "1" = send agents_sync
-- ended how cause by at                      it has ended
-- notYours                                   the id belongs to another process
-- unknown                                    the board does not know it: join again
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local session, instance, agents, policy, policy_json,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/forget
-- @include lib/session_get
-- @include lib/set
forget()
local reply
local known = session_get(session)
if not known then
  -- @include lib/ended_reply
  reply = ended_reply(session)
elseif known.process.instance ~= instance then
  reply = { 'notYours' }
else
  -- @include lib/line_touch
  -- @include lib/promote_pools
  -- @include lib/renew
  -- @include lib/session_picture
  if known.bridgeLostAt then
    known.bridgeLostAt = nil
    redis.call('HSET', SESSIONS, session, cjson.encode(known))
  end
  if policy ~= '' and policy ~= known.policy then
    -- @include lib/session_policy
    session_policy(session, known, policy, policy_json)
    -- @include lib/promote
    promote()
  end
  if renew('s|' .. session) == 0 then set('lastBeat', board.at) end
  line_touch(session)
  promote_pools()
  reply = session_picture(session, known, agents)
end
-- @include lib/close

-- Ends a session: nothing of it stays but its tombstone. Its ending slots are settled. Agents that were mid-run stand in
-- the event, so that they can be revived; `ended` true (the host's conversation was switched) records them as ended instead.
-- @include lib/line_leave
-- @include lib/policy_leave
-- @include lib/slot_end
-- @include lib/slots_of
-- @include lib/tombstone
local function session_end(id, session, how, ended)
  local mid_run = {}
  for _, one in ipairs(slots_of(id)) do
    if one.slot.state == 'ending' then
      slot_end(one.id, one.slot, 'ended')
    elseif one.slot.state == 'running' and ended then
      slot_end(one.id, one.slot, how.how)
    else
      slot_drop(one.id, one.slot)
      if one.slot.state == 'running' then
        mid_run[#mid_run + 1] = { id = one.slot.agent, type = one.slot.type, startedAt = one.slot.since }
      end
    end
  end
  for _, member in ipairs(redis.call('ZRANGEBYLEX', LINE, '[s|' .. id .. '|', '(s|' .. id .. '|\255')) do
    line_leave(split(member)[3], id)
  end
  redis.call('HDEL', SESSIONS, id)
  redis.call('HDEL', LABELS, session.label)
  redis.call('ZREM', LEASES, 's|' .. id)
  redis.call('ZREM', POLICY_USE, session.policy .. '|s|' .. id)
  how.instance = session.process.instance
  tombstone(id, how)
  event('session_left', 'session', id, 'label', session.label, 'cwd', session.cwd, 'reason', how.how,
    'agents', #mid_run > 0 and cjson.encode(mid_run) or '[]')
  policy_leave(session.policy)
end

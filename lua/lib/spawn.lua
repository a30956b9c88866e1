-- Decides one spawn (design: agent slots), in this order: nested rules, pause, exempt types and policies without pools,
-- settling, the pool's cap.
-- @include lib/allowance
-- @include lib/matches
-- @include lib/pool_for
-- @include lib/spawn_pool
-- @include lib/spawn_nested
-- @include lib/spawn_seat
local function spawn(session_record)
  local rules = agents_policy(session_record)
  local nested = parent_kind == 'sub'
  local pool = not nested and pool_for(rules, type) or nil
  local cause, place
  if nested then cause = spawn_nested(rules) end
  if not cause and board.paused then
    cause = 'paused'
    if pool then place = line_place(pool, line_join(pool, session)) end
  elseif not cause and pool then
    cause, place = spawn_pool(pool, rules)
  elseif not cause and board.settling then
    cause = 'settling'
  end
  local _, used = pool_of(pool or '')
  local effective = pool_of(pool or '')
  local reply = { cause and 'refused' or 'approved', 'pool', pool or '', 'used', string.format('%d', used),
    'cap', effective and string.format('%d', effective) or '', 'cause', cause or '', 'place', place or '' }
  if cause then
    event('spawn_refused', 'session', session, 'label', session_record.label, 'agent', parent, 'agentType', type,
      'pool', pool or '', 'parent', parent, 'cause', cause)
    reply[#reply + 1], reply[#reply + 2] = 'holders', pool and pool_holders(pool) or '[]'
    reply[#reply + 1], reply[#reply + 2] = 'allowed', table.concat(rules.nested and rules.nested.types or {}, ' ')
  else
    spawn_seat(session_record, rules, pool)
  end
  local allowed, why = allowance(session, session_record)
  for _, value in ipairs({ 'allowance', allowed, 'why', why }) do reply[#reply + 1] = value end
  return reply
end

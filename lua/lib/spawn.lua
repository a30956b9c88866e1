-- Decides one spawn (design: agent slots), in this order: nested rules, pause, exempt types and policies without pools,
-- settling, the pool's cap. Asked again for a slot that it was given (the answer was lost): given, as before.
-- @include lib/agents_policy
-- @include lib/allowance
-- @include lib/line_join
-- @include lib/line_place
-- @include lib/pool_for
-- @include lib/pool_holders
-- @include lib/pool_of
-- @include lib/slot_get
-- @include lib/spawn_pool
-- @include lib/spawn_nested
-- @include lib/spawn_seat
local function spawn(session_record)
  local rules = agents_policy(session_record)
  local nested, given = parent_kind == 'sub', slot_get(slot)
  local pool
  if given then pool = given.pool elseif not nested then pool = pool_for(rules, type) end
  local cause, place
  if nested and not given then cause = spawn_nested(rules) end
  if given or cause then
    -- It counts already, and must not be refused for the place that it takes itself.
  elseif board.paused then
    cause = 'paused'
    if pool then place = line_place(pool, line_join(pool, session)) end
  elseif pool then
    cause, place = spawn_pool(pool, rules)
  elseif board.settling then
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
  elseif not given then
    spawn_seat(session_record, rules, pool)
  end
  local allowed, why = allowance(session, session_record)
  for _, value in ipairs({ 'allowance', allowed, 'why', why }) do reply[#reply + 1] = value end
  return reply
end

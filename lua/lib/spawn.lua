-- Decides one spawn (design: agent slots), in this order: types that a subagent may not start, pause, settling, the number
-- of nested ones or the pool's cap; an exempt type, or a policy without pools, is only counted. Asked again for a slot that
-- it was given (the answer was lost): given, as before.
-- @include lib/agents_policy
-- @include lib/allowance
-- @include lib/line_join
-- @include lib/line_place
-- @include lib/matches
-- @include lib/pool_for
-- @include lib/pool_holders
-- @include lib/pool_of
-- @include lib/slot_get
-- @include lib/spawn_nested
-- @include lib/spawn_pool
-- @include lib/spawn_seat
local function spawn(session_record)
  local rules = agents_policy(session_record)
  local allowed_types = rules.nested and rules.nested.types or {}
  local nested, given = parent_kind == 'sub', slot_get(slot)
  local pool, cause, place, effective, used, held
  if given then pool = given.pool elseif not nested then pool = pool_for(rules, type) end
  if pool then effective, used, held = pool_of(pool) end
  if given then
    -- It counts already, and must not be refused for the place that it takes itself.
  elseif nested and not matches(type, allowed_types) then
    cause = 'nestedType'
  elseif board.paused or board.settling then
    cause = board.paused and 'paused' or 'settling'
    if pool then place = line_place(pool, line_join(pool, session)) end
  elseif nested then
    cause = spawn_nested(rules)
  elseif pool then
    cause, place, used = spawn_pool(pool, effective, used, held)
  end
  local reply = { cause and 'refused' or 'approved' }
  local function say(...) for _, value in ipairs({ ... }) do reply[#reply + 1] = value end end
  if cause then say('cause', cause) end
  say('pool', pool or '', 'used', string.format('%d', used or 0), 'cap', effective and string.format('%d', effective) or '')
  if cause then
    event('spawn_refused', 'session', session, 'label', session_record.label, 'agent', parent, 'agentType', type,
      'pool', pool or '', 'parent', parent, 'cause', cause)
    say('place', place or '', 'holders', pool and pool_holders(pool) or '[]', 'allowed', table.concat(allowed_types, ' '))
  else
    given = given or spawn_seat(session_record, rules, pool)
    say('unqueued', given.unqueued or '')
  end
  local allowed, why = allowance(session, session_record)
  say('allowance', allowed, 'why', why)
  return reply
end

-- How many spawns omp's own queue may let through now while this session is alone (design: spawns wait their turn), or ""
-- and why not: paused, others, eval, none. All slots of the session whose parent is Main, minus those that never went
-- through omp's queue, plus what the default pool has free, plus the session's own hold there.
-- @include lib/agents_policy
-- @include lib/pool_of
-- @include lib/slots_of
local function allowance(id, session)
  if board.paused then return '', 'paused' end
  if redis.call('HLEN', SESSIONS) > 1 then return '', 'others' end
  local rules = agents_policy(session)
  local mine = 0
  for _, one in ipairs(slots_of(id)) do
    if one.slot.unqueued == 'eval' then return '', 'eval' end
    if one.slot.kind == 'main' and not one.slot.unqueued then mine = mine + 1 end
  end
  local effective, used, held = pool_of(rules.defaultPool or '')
  if not effective then return '', 'none' end
  local own = redis.call('ZSCORE', HOLDS, rules.defaultPool .. '|' .. id) and 1 or 0
  local total = mine + math.max(0, effective - used - held) + own
  if total == 0 then return '', 'none' end
  return string.format('%d', total), ''
end

-- The pool that an agent type counts against: the first in file order whose types match, else the default one; nil when
-- the policy has no pools or the type is exempt.
-- @include lib/matches
local function pool_for(rules, kind)
  if matches(kind, rules.exempt) then return nil end
  for _, pool in ipairs(rules.pools or {}) do
    if matches(kind, pool.types) then return pool.name end
  end
  return rules.defaultPool
end

-- The effective caps of all pools: the smallest that any live policy names, lower while the load is above a threshold.
-- @include lib/least
local function pools_compute(policies, steps)
  local pools = {}
  for _, policy in ipairs(policies) do
    for name, pool in pairs(policy.pools or {}) do
      local limits = pools[name] or {}
      pools[name] = limits
      if limits.cap and limits.cap ~= pool.cap then limits.limitedBy = 'policy' end
      limits.highest = math.max(limits.highest or 0, pool.cap)
      limits.cap = least(limits.cap, pool.cap)
      limits.effective = least(limits.effective, pool.cap)
    end
  end
  for _, policy in ipairs(policies) do
    for name, pool in pairs(policy.pools or {}) do
      for _, cap in ipairs(pool.loadCaps or {}) do
        steps[#steps + 1] = cap[1]
        if board.load > cap[1] and cap[2] < pools[name].effective then pools[name].effective, pools[name].limitedBy = cap[2], 'load' end
      end
    end
  end
  for name, limits in pairs(pools) do
    redis.call('HSET', LIMITS, 'p|' .. name, cjson.encode(limits))
    board.pools[name] = true
  end
end

-- Computes the effective limits of all queues from the live policies anew and has every queue served again. A policy
-- made without a file ("fallback") speaks only for queues that no file names. The board's lease is the longest asked for.
-- @include lib/limits_of
-- @include lib/load_step
-- @include lib/pools_compute
-- @include lib/queue_limits
-- @include lib/set
-- @include lib/turns_anew
local function limits_compute()
  local policies, named, steps, lease = {}, {}, {}, 0
  for _, json in ipairs(redis.call('HVALS', POLICIES)) do policies[#policies + 1] = cjson.decode(json) end
  table.sort(policies, function(a, b) return a.registered < b.registered end)
  for _, fallback in ipairs({ false, true }) do
    local spoken = {}
    for name in pairs(named) do spoken[name] = fallback end
    for _, policy in ipairs(policies) do
      local mine = (policy.fallback or false) == fallback
      if mine then lease = math.max(lease, policy.leaseMs or 10000) end
      for name, queue in pairs(mine and policy.queues or {}) do
        if not spoken[name] then
          named[name] = named[name] or {}
          table.insert(named[name], queue)
        end
        for _, cap in ipairs(queue.loadCaps or {}) do steps[#steps + 1] = cap[1] end
      end
    end
  end
  local orders = {}
  for name in pairs(named) do orders[name] = (limits_of(name) or {}).order or 'fifo' end
  redis.call('DEL', LIMITS)
  board.limits, board.lease, board.load = {}, math.max(lease, 2000), board.load or tonumber(load) or 0
  for name, queues in pairs(named) do
    local limits = queue_limits(queues, board.load)
    redis.call('HSET', LIMITS, 'q|' .. name, cjson.encode(limits))
    if limits.order ~= orders[name] then turns_anew(name, limits) end
    board.touched[name] = true
  end
  pools_compute(policies, steps)
  set('lease', string.format('%d', board.lease))
  table.sort(steps)
  set('loadSteps', table.concat(steps, ' '))
  set('loadStep', tostring(load_step(board.load)))
  set('policyCount', tostring(#policies))
end

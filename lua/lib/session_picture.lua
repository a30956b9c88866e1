-- What a session must know at its beat: holds and places, the pools of its file, the pause, its allowance, how many jobs
-- wait, whom it waits for, and whether the board has other agents than really run.
-- @include lib/allowance
-- @include lib/before
-- @include lib/line_place
-- @include lib/line_watch
-- @include lib/pause_read
-- @include lib/split
local function session_picture(id, record, agents_hash)
  local holds, line, pools, running = {}, {}, {}, {}
  for _, member in ipairs(redis.call('ZRANGEBYLEX', LINE, '[s|' .. id .. '|', '(s|' .. id .. '|\255')) do
    local parts = split(member)
    if redis.call('ZSCORE', HOLDS, parts[3] .. '|' .. id) then
      local at = redis.call('ZSCORE', DEADLINES, 'hold|' .. parts[3] .. '|' .. id)
      holds[#holds + 1] = { pool = parts[3], ['until'] = at and tonumber(at) or nil, ticket = parts[4] }
    else
      line[#line + 1] = { pool = parts[3], place = tonumber(line_place(parts[3], parts[4])), ticket = parts[4] }
    end
  end
  for _, pool in ipairs(agents_policy(record).pools or {}) do
    local effective, used = pool_of(pool.name)
    pools[#pools + 1] = { name = pool.name, used = used, cap = effective }
  end
  for _, one in ipairs(slots_of(id)) do
    if one.slot.state == 'running' then running[#running + 1] = one.slot.agent end
  end
  table.sort(running, before)
  local allowed, why = allowance(id, record)
  local function list(values) return #values > 0 and cjson.encode(values) or '[]' end
  return { 'alive', 'label', record.label, 'holds', list(holds), 'line', list(line), 'pools', list(pools),
    'paused', pause_read(), 'allowance', allowed, 'why', why,
    'watch', list(line_watch(id, line)), 'waitingJobs', string.format('%d', redis.call('ZCARD', WAITING) / 2),
    'sync', redis.sha1hex(table.concat(running, '\n')) ~= agents_hash and '1' or '' }
end

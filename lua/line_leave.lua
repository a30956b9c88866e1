-- A session gives back its place or hold in a pool's line; the next is served at once. pool "": in all lines.
--
-- left pools                                 pools: those whose line or hold it had, separated by spaces
-- unknown                                    no such session
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local session, pool,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/line_leave
-- @include lib/session_get
-- @include lib/split
local reply
if not session_get(session) then
  reply = { 'unknown' }
else
  local left = {}
  for _, member in ipairs(redis.call('ZRANGEBYLEX', LINE, '[s|' .. session .. '|', '(s|' .. session .. '|\255')) do
    local name = split(member)[3]
    if pool == '' or pool == name then
      local _, held = line_leave(name, session)
      left[#left + 1] = name
      event('line_left', 'session', session, 'pool', name, 'held', held and '1' or '')
    end
  end
  reply = { 'left', 'pools', table.concat(left, ' ') }
end
-- @include lib/close

-- A session as the caller saw it: `live`; `bridgeless`: the host lives but the bridge that beats for it is gone, which it
-- may be for 60 s; `gone`: the host is gone.
-- @include lib/line_touch
-- @include lib/session_end
-- @include lib/session_get
local function session_vouched(seen)
  local session = session_get(seen.id)
  local process = session and session.process
  if not session or process.pid ~= seen.pid or process.start ~= seen.start or process.instance ~= seen.instance then return end
  if seen.is == 'gone' then return session_end(seen.id, session, { how = 'died', cause = 'its process is gone' }) end
  if seen.is == 'bridgeless' then
    if not session.bridgeLostAt or session.bridgeLostAt > board.now then
      session.bridgeLostAt = board.now
      redis.call('HSET', SESSIONS, seen.id, cjson.encode(session))
    elseif board.now - session.bridgeLostAt >= 60000 then
      event('bridge_lost', 'session', seen.id, 'label', session.label)
      return session_end(seen.id, session, { how = 'bridgeLost', cause = 'its bridge was gone for 60 s' })
    end
  elseif session.bridgeLostAt then
    session.bridgeLostAt = nil
    redis.call('HSET', SESSIONS, seen.id, cjson.encode(session))
  end
  redis.call('ZADD', LEASES, 'XX', board.now + board.lease, 's|' .. seen.id)
  line_touch(seen.id)
end

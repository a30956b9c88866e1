-- Opens a session, or takes over the one that the same host process had under the same host session id: with its letter,
-- slots, tickets and holds. A session that the board lost comes back the same way, with all that really runs, and with its
-- tickets (record: line {pool: ticket}).
--
-- joined session label alone others paused files   session: the id in force; alone: "1"; others: JSON [{kind, id, label, cwd,
--                                            machine, process, bridge}]; paused: JSON or ""; files: JSON, where other policies are from
-- newerSchema schema                         the board was made by a newer omp-coord
local META, POLICIES, POLICY_USE, LIMITS, LOADS, LEASES, DEADLINES, JOBS, WAITING, RUNNING, TURNS, SERVED, NEST, ENDED,
  ENDED_AT, EVENTS, SESSIONS, LABELS, SLOTS, SEATS, LINE, HOLDS, PAUSE = unpack(KEYS)
local session, host_session, label, policy, policy_json, agents, record,
  machine, epoch, fresh, single, channel, user, load, vouch = unpack(ARGV)
-- @include lib/open

-- @include lib/line_return
-- @include lib/pause_read
-- @include lib/policies_other
-- @include lib/session_new
-- @include lib/session_others
-- @include lib/sync
local sent = cjson.decode(record)
local id, known = session_new(session, sent)
line_return(id, sent.line or {})
sync(id, known, cjson.decode(agents))
local others = session_others(id)
local reply = { 'joined', 'session', id, 'label', known.label, 'alone', #others == 0 and '1' or '',
  'others', #others > 0 and cjson.encode(others) or '[]', 'paused', pause_read(), 'files', policies_other() }
-- @include lib/close

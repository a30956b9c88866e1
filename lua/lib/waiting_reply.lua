-- What a waiter is told: its place, why it waits, who holds the slots (JSON), and when asked for those ahead of it
-- (JSON, at most 32): it looks at their processes, so that nobody dead is waited for.
-- @include lib/place
-- @include lib/records
local function waiting_reply(id, job, with_ahead)
  local reply = { 'waiting', 'ticket', job.ticket, 'queuedAt', string.format('%d', job.queuedAt), 'owner', job.owner }
  local cause, at, about, holders, ahead = 'notListening', 1, '1', {}, {}
  if job.state == 'waiting' then
    cause = board.settling and 'settling' or board.paused and 'paused' or 'full'
    at, about = place(id, job)
    local prefix, lane = 'q|' .. job.queue .. '|', 'q|' .. job.queue .. '|' .. job.lane .. '|'
    holders = redis.call('ZRANGEBYLEX', RUNNING, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', 0, 32)
    ahead = with_ahead and redis.call('ZRANGEBYLEX', WAITING, '[' .. lane, '(' .. lane .. job.ticket, 'LIMIT', 0, 32) or {}
  end
  for _, value in ipairs({ 'cause', cause, 'place', at, 'about', about, 'holders', records(holders, 5), 'ahead', records(ahead, 5) }) do
    reply[#reply + 1] = value
  end
  return reply
end

-- Grants the free slots of the queues that this call touched to who is next, at most 200 a call: what is left over is
-- granted by the next beat of any waiter of that queue.
-- @include lib/limits_of
-- @include lib/next_job
-- @include lib/offer
local function promote()
  if board.settling or board.paused or not next(board.touched) then return end
  local queues = board.touched
  board.touched = {}
  for queue in pairs(queues) do
    local limits = redis.call('EXISTS', WAITING) == 1 and limits_of(queue)
    for _ = 1, limits and 200 or 0 do
      local id = next_job(queue, limits)
      if not id then break end
      offer(id)
    end
  end
end

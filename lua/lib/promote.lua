-- Grants the free slots of the queues that this call touched to who is next, at most 200 a call: what is left over is
-- granted by the next beat of any waiter of that queue.
-- @include lib/limits_of
-- @include lib/next_job
-- @include lib/offer
-- @include lib/queue_free
local function promote()
  if board.settling or board.paused or not next(board.touched) then return end
  local queues = board.touched
  board.touched = {}
  for queue in pairs(queues) do
    local limits = redis.call('EXISTS', WAITING) == 1 and limits_of(queue)
    local free = limits and queue_free(queue, limits) or 0
    for _ = 1, 200 do
      local id = free > 0 and next_job(queue, limits, free)
      if not id then break end
      if offer(id) then free = free - 1 end
    end
  end
end

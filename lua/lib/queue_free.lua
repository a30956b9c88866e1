-- How many slots of a queue are free; below 0 when more run than its limits allow by now.
-- @include lib/count
local function queue_free(queue, limits)
  return limits.effective - count(RUNNING, 'q|' .. queue .. '|')
end

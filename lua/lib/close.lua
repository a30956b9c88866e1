-- Closes every deciding call: serves what it touched, then answers with `reply`.
if board.crowded and next(board.touched) then
  -- @include lib/promote
  promote()
end
if next(board.pools) then
  -- @include lib/promote_pools
  promote_pools()
end
-- @include lib/answer
return answer(reply)

-- Closes every deciding call: serves what it touched, then answers with `reply`.
if board.crowded and next(board.touched) then
  -- @include lib/promote
  promote()
end
-- @include lib/answer
return answer(reply)

-- Mends time that did not go on as it should. Set back by up to a second, the clock stands; by more, everything timed
-- moves back with it. When nobody has beaten for half a lease (but at least a beat and a half) everything moves on by that
-- gap, once between two beats of anybody, so that nobody lapses for what the coordinator missed.
-- @include lib/set
-- @include lib/shift
local function move_time()
  if board.set_back > 0 then
    shift(-board.set_back)
    for _, name in ipairs({ 'lastBeat', 'movedAt', 'settleUntil' }) do
      local at = tonumber(board.meta[name]) or 0
      if at > 0 then set(name, string.format('%d', at - board.set_back)) end
    end
  elseif board.gap > 0 then
    shift(board.gap)
    set('movedAt', board.at)
  end
end

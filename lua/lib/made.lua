-- Starts a new board: it settles for one and a half beats, in which only what runs already is taken in, unless the
-- caller knows that nothing can be running ("fresh").
-- @include lib/set
local function made()
  set('schema', '1')
  set('epoch', epoch)
  set('uid', user)
  set('madeAt', board.at)
  set('lastBeat', board.at)
  set('lease', '10000')
  set('loadSteps', '')
  set('settleUntil', fresh == '1' and '0' or string.format('%d', board.now + 3000))
  event('board_made', 'epoch', epoch)
  redis.call('PUBLISH', channel .. 'epoch', epoch)
end

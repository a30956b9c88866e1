-- Starts a new board: it settles for one and a half beats, in which only what runs already is taken in, unless the
-- caller knows that nothing can be running ("fresh").
-- @include lib/set

-- Over 64 bytes on purpose: a hash with such a value is a real hash table, and reading `meta` costs a third of what it
-- costs in the compact form, which is searched from the front for each field.
local ABOUT = 'The board of one scope of omp-coord. What each key holds: docs/data-model.md. Times are epoch milliseconds.'

local function made()
  set('schema', '1')
  set('about', ABOUT)
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

-- Has the queue or pool of a field of `limits` served again.
local function touch(name)
  if string.sub(name, 1, 2) == 'p|' then board.pools[string.sub(name, 3)] = true else board.touched[string.sub(name, 3)] = true end
end

-- The first member of a lexical set that starts with the prefix, or nil.
local function first(key, prefix)
  return redis.call('ZRANGEBYLEX', key, '[' .. prefix, '(' .. prefix .. '\255', 'LIMIT', 0, 1)[1]
end

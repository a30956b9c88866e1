-- How many members of a lexical set start with the prefix.
local function count(key, prefix)
  return redis.call('ZLEXCOUNT', key, '[' .. prefix, '(' .. prefix .. '\255')
end

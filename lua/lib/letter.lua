-- The lowest free letter: A to Z, then AA, AB, … A returning session gets its old one back when it is free.
local function letter(wanted, id)
  if wanted ~= '' and redis.call('HSETNX', LABELS, wanted, id) == 1 then return wanted end
  for n = 0, 100000 do
    local name, rest = '', n
    repeat
      name = string.char(65 + rest % 26) .. name
      rest = math.floor(rest / 26) - 1
    until rest < 0
    if redis.call('HSETNX', LABELS, name, id) == 1 then return name end
  end
end

-- The parts of a lexical member.
local function split(member)
  local parts = {}
  for part in string.gmatch(member .. '|', '(.-)|') do parts[#parts + 1] = part end
  return parts
end

-- The smaller of two limits; nil means no limit.
local function least(a, b)
  if a == nil or (b ~= nil and b < a) then return b end
  return a
end

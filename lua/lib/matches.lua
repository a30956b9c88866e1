-- Whether an agent type matches one of the patterns, upper and lower case alike; `*` stands for any text.
local function matches(kind, patterns)
  kind = string.lower(kind)
  for _, pattern in ipairs(patterns or {}) do
    local plain = string.gsub(string.lower(pattern), '[%^%$%(%)%%%.%[%]%+%-%?]', '%%%0')
    if string.find(kind, '^' .. string.gsub(plain, '%*', '.*') .. '$') then return true end
  end
  return false
end

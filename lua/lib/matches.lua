-- Whether an agent type (lower-cased) matches one of the patterns; `*` stands for any text.
local function matches(kind, patterns)
  for _, pattern in ipairs(patterns or {}) do
    local plain = string.gsub(string.lower(pattern), '[%^%$%(%)%%%.%[%]%+%-%?]', '%%%0')
    if string.find(kind, '^' .. string.gsub(plain, '%*', '.*') .. '$') then return true end
  end
  return false
end

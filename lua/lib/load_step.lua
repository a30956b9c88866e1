-- How many of the thresholds that live policies name a load has passed. The limits hold for one such step; both writers
-- of the limits note it, so that the first load ever seen is forgotten like any other.
local function load_step(seen)
  local step = 0
  for threshold in string.gmatch(board.meta.loadSteps, '%S+') do
    if seen > tonumber(threshold) then step = step + 1 end
  end
  return step
end

-- Requests of ten arms of 20 numbers, as those of a shop: made before the clock runs, and taken in turn. ID is where
-- an id goes.
local made = {}

local function vector()
    local numbers = {}
    for i = 1, 20 do numbers[i] = string.format("%.3f", math.random()) end
    return "[" .. table.concat(numbers, ",") .. "]"
end

for i = 1, 200 do
    local arms = {}
    for j = 1, 10 do arms[j] = vector() end
    made[i] = '"actions":[' .. table.concat(arms, ",") .. "]}"
end

local next_one = 0
return function(id)
    next_one = next_one % #made + 1
    if id then return '{"id":"' .. id .. '",' .. made[next_one] end
    return "{" .. made[next_one]
end

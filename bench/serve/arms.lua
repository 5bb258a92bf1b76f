-- Requests with ten arms of 20 numbers, prepared before the measurement and used in turn. Returns a function that takes
-- the id of a decision (optional) and returns a request body.
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

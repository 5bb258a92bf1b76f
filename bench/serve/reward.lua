-- wrk -t1: a reward for each of the LOAD_COUNT decisions of prepare.lua, in their order; then it stops.
wrk.headers["Content-Type"] = "application/json"
local count = tonumber(os.getenv("LOAD_COUNT"))
local next_one = 100 -- wrk makes a first request that it does not send: the first batch was never decided

function request()
    local body = '{"id":"' .. next_one .. '","value":' .. math.random(0, 1) .. "}"
    next_one = next_one + 1
    if next_one >= count then wrk.thread:stop() end
    return wrk.format("POST", "/v1/bandits/load/reward", nil, body)
end

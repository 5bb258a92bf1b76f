-- wrk: decides, and rewards half of the decisions as soon as their responses arrive, at LOAD_RATE requests per second over
-- LOAD_CONNECTIONS connections.
local arms = dofile(os.getenv("LOAD_SCRIPTS") .. "/arms.lua")
wrk.headers["Content-Type"] = "application/json"
local pause = 1000 * tonumber(os.getenv("LOAD_CONNECTIONS")) / tonumber(os.getenv("LOAD_RATE"))
local waiting, first, last = {}, 1, 0

function delay() return pause * (0.5 + math.random()) end

function request()
    if first > last then return wrk.format("POST", "/v1/bandits/load/decide", nil, arms()) end
    local id = waiting[first]
    waiting[first] = nil
    first = first + 1
    return wrk.format("POST", "/v1/bandits/load/reward", nil, '{"id":"' .. id .. '","value":' .. math.random(0, 1) .. "}")
end

function response(status, headers, body)
    local id = string.match(body, '^{"id":"([^"]*)"')
    if id and math.random(0, 1) == 1 then
        last = last + 1
        waiting[last] = id
    end
end

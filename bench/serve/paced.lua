-- wrk: decides at LOAD_RATE requests per second over LOAD_CONNECTIONS connections.
local arms = dofile(os.getenv("LOAD_SCRIPTS") .. "/arms.lua")
wrk.headers["Content-Type"] = "application/json"
local pause = 1000 * tonumber(os.getenv("LOAD_CONNECTIONS")) / tonumber(os.getenv("LOAD_RATE"))

function delay() return pause * (0.5 + math.random()) end

function request() return wrk.format("POST", "/v1/bandits/load/decide", nil, arms()) end

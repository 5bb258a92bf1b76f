-- wrk: durable decisions.
local arms = dofile(os.getenv("LOAD_SCRIPTS") .. "/arms.lua")
wrk.headers["Content-Type"] = "application/json"

function request()
    return wrk.format("POST", "/v1/bandits/load/decide", nil, arms())
end

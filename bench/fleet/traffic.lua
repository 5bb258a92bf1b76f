-- wrk -t1: requests with ten arms of 20 numbers, to bandits in turn. Prints a line "result" with counts and durations, and
-- a line "bin" for each latency, so that several clients can be added up.
--   LOAD_MODE      decide, prepare (decisions with ids, in batches of 100) or reward (of those decisions)
--   LOAD_BANDITS   names, separated by commas
--   LOAD_IDS       what the ids begin with: of this client and run only
--   LOAD_COUNT     of prepare and reward: stops after this many decisions; a multiple of 100 * bandits
--   LOAD_PAUSE     milliseconds between two requests of a connection (optional)
local mode = os.getenv("LOAD_MODE")
local ids = os.getenv("LOAD_IDS")
local count = tonumber(os.getenv("LOAD_COUNT") or "0")
local pause = tonumber(os.getenv("LOAD_PAUSE") or "0")
local arms = dofile(os.getenv("LOAD_SCRIPTS") .. "/../serve/arms.lua")
wrk.headers["Content-Type"] = "application/json"
local bandits = {}
for name in string.gmatch(os.getenv("LOAD_BANDITS"), "[^,]+") do bandits[#bandits + 1] = name end
local batch = 100
local sent = -2 -- wrk makes a first request that it does not send

if pause > 0 then
    function delay() return pause * (0.5 + math.random()) end
end

-- The process would sleep until the end of its duration: traffic.py interrupts it when this line arrives.
local function stop()
    wrk.thread:stop()
    io.write("stopped\n")
    io.flush()
end

local function path(bandit, rest) return "/v1/bandits/" .. bandits[bandit % #bandits + 1] .. rest end

local function decide()
    sent = sent + 1
    return wrk.format("POST", path(sent, "/decide"), nil, arms())
end

local function prepare()
    sent = sent + 1
    local decisions = {}
    for i = 1, batch do decisions[i] = arms(ids .. sent * batch + i) end
    if (sent + 1) * batch >= count then stop() end
    return wrk.format("POST", path(sent, "/decide/batch"), nil, '{"decisions":[' .. table.concat(decisions, ",") .. "]}")
end

-- One decision of each bandit after the other, of those that prepare() made.
local function reward()
    sent = sent + 1
    local block, rest = math.floor(sent / (batch * #bandits)), sent % (batch * #bandits)
    local of = block * #bandits + rest % #bandits
    local id = of * batch + math.floor(rest / #bandits) + 1
    if sent + 1 >= count then stop() end
    return wrk.format("POST", path(of, "/reward"), nil, '{"id":"' .. ids .. id .. '","value":' .. math.random(0, 1) .. "}")
end

request = ({ decide = decide, prepare = prepare, reward = reward })[mode]

function done(summary, latency)
    local errors = summary.errors
    io.write("result ", summary.requests, " ", summary.duration, " ", errors.status, " ",
        errors.connect + errors.read + errors.write + errors.timeout, "\n")
    for i = 1, #latency do
        local value, times = latency(i)
        io.write("bin ", value, " ", times, "\n")
    end
end

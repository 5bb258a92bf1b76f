-- wrk -t1: decisions with the ids 0, 1, 2, ... in batches of 100; prints how many there are.
local arms = dofile(os.getenv("LOAD_SCRIPTS") .. "/arms.lua")
wrk.headers["Content-Type"] = "application/json"
local threads = {}
count = 0
answered = 0

function setup(thread) table.insert(threads, thread) end

function request()
    local decisions = {}
    for i = 1, 100 do
        decisions[i] = arms(tostring(count))
        count = count + 1
    end
    return wrk.format("POST", "/v1/bandits/load/decide/batch", nil,
        '{"decisions":[' .. table.concat(decisions, ",") .. "]}")
end

function response(status)
    if status == 200 then answered = answered + 100 end
end

function done() io.write("prepared ", threads[1]:get("answered"), "\n") end

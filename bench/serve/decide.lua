-- wrk -t1 -c64 -d10 -s decide.lua http://127.0.0.1:8080: ten arms of 20 numbers, each request another.
-- The bandit is made before: curl http://127.0.0.1:8080/v1/bandits -d '{"name": "load", "dim": 20}'
local bodies = {}

function init(args)
   math.randomseed(7)
   for i = 1, 200 do
      local arms = {}
      for a = 1, 10 do
         local numbers = {}
         for k = 1, 20 do numbers[k] = string.format("%.6f", math.random() * 2 - 1) end
         arms[a] = "[" .. table.concat(numbers, ",") .. "]"
      end
      bodies[i] = '{"actions":[' .. table.concat(arms, ",") .. "]}"
   end
   wrk.headers["Content-Type"] = "application/json"
end

local turn = 0
function request()
   turn = turn % #bodies + 1
   return wrk.format("POST", "/v1/bandits/load/decide", nil, bodies[turn])
end

function done(summary, latency)
   local wrong = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout
   io.write(string.format("decisions/s %.0f  p50 %.2f ms  p99 %.2f ms  wrong %d\n",
      summary.requests / summary.duration * 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000, wrong))
end

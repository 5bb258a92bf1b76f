-- wrk -t1 -c64 -d10 -s reward.lua http://127.0.0.1:8080: rewards for decisions that were never made, each kept on the
-- disk before it is answered. The bandit is made before, as for decide.lua.
local turn = 0

function init(args)
   math.randomseed(os.time())
   stem = string.format("%d-%d-", os.time(), math.random(1000000000))
   wrk.headers["Content-Type"] = "application/json"
end

function request()
   turn = turn + 1
   return wrk.format("POST", "/v1/bandits/load/reward", nil, '{"id":"' .. stem .. turn .. '","value":1}')
end

function done(summary, latency)
   local wrong = summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout
   io.write(string.format("rewards/s %.0f  p50 %.2f ms  p99 %.2f ms  wrong %d\n",
      summary.requests / summary.duration * 1e6, latency:percentile(50) / 1000, latency:percentile(99) / 1000, wrong))
end

-- Runs packaging/slurm/job_submit.lua with a stub of Slurm: lua job_submit.lua PLUGIN KNEES PARTITIONS.
-- PARTITIONS is put into its list. Standard input has jobs, a blank line between: KEY=VALUE lines, then
-- `script:` and the script. Each job's CPUs afterwards are printed in a line: cpus_per_task min_cpus.
local plugin, knees, listed = arg[1], arg[2], arg[3]

slurm = { SUCCESS = 0, NO_VAL = 4294967294, NO_VAL16 = 65534 }
local said = {}
function slurm.log_info(...) said[#said + 1] = string.format(...) end
slurm.log_user = slurm.log_info

local file = assert(io.open(plugin))
local text = file:read("*a")
file:close()
local function replace(from, to)
    local changed, count = text:gsub(from, function() return to end)
    assert(count == 1, from)
    text = changed
end
replace('%-%- %["shared"%] = true,', listed ~= "" and '["' .. listed .. '"] = true,' or "")
replace('"/etc/slurm/scaf%-knees.tsv"', string.format("%q", knees))
assert(assert((loadstring or load)(text))() == slurm.SUCCESS)
assert(slurm_job_modify({}, {}, {}, 0) == slurm.SUCCESS)

for job_text in (io.read("*a") .. "\n\n"):gmatch("(.-)\n\n") do
    local head, script = job_text:match("^(.-)script:\n(.*)$")
    local job = { partition = "shared", cpus_per_task = 65534, min_cpus = 1, num_tasks = 4294967294,
        pn_min_cpus = 65534, shared = 65534, environment = {} }
    job.script = script
    for key, value in (head or job_text):gmatch("([%w_]+)=(%S+)") do
        if key == "scaf" then job.environment["_SLURM_SPANK_OPTION_scaf_scaf"] = value
        else job[key] = tonumber(value) or value end
    end
    said = {}
    assert(slurm_job_submit(job, {}, 0) == slurm.SUCCESS)
    print(job.cpus_per_task .. " " .. job.min_cpus .. " " .. table.concat(said, " / "))
end

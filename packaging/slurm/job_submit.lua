-- Lowers a batch job's CPUs per task to the knee of its programs: beyond it another CPU adds little.
--
-- For slurm.conf: JobSubmitPlugins=lua, with this file as job_submit.lua beside it. The knees come from
--     scaf profile export --format knees > /etc/slurm/scaf-knees.tsv
-- which an admin runs now and then, as root for a system-wide daemon. Lines may be taken out or changed.
--
-- It does nothing until partitions are listed here. It never raises a request, never goes below a user's minimum
-- (--scaf=min=N, scaf run --min N, a --mincpus above --cpus-per-task), and leaves a job alone that
--   * takes whole nodes, or keeps its results' bits (--scaf=exact, scaf run --exact), or has --scaf=off,
--   * starts a program whose knee isn't known, or fixes OMP_NUM_THREADS to a number,
--   * has no script (srun, salloc), or memory by CPUs (--mem-per-cpu). A partition with DefMemPerCPU shouldn't
--     be listed: jobs would have less memory with fewer CPUs.
-- An error in here, or a file that can't be read, leaves the job as it is.

local partitions = {
    -- ["shared"] = true,
}
local knees_file = "/etc/slurm/scaf-knees.tsv"

-- What starts the program after it, what stands before a command, and what starts nothing that counts.
local function set(words)
    local list = {}
    for word in words:gmatch("%S+") do list[word] = true end
    return list
end
local starters = set("srun mpirun mpiexec scaf env time nice numactl taskset stdbuf exec nohup timeout command")
local before = set("then else do ! { ( if while until")
local nothing = set("for case esac fi done } ) function [ [[ ]] cd module export echo set source . ulimit unset " ..
    "mkdir cp mv rm date exit wait printf sleep")

local function read_knees(path)
    local file = io.open(path, "r")
    if not file then return nil end
    local knees = {}
    for line in file:lines() do
        local knee, name = line:match("^(%d+)\t([^\t]+)")
        knee = tonumber(knee)
        -- Of several files of one name, the largest knee.
        if knee and knee >= 1 then knees[name] = math.max(knees[name] or 1, knee) end
    end
    file:close()
    return knees
end

local function base(word) return word:match("([^/]+)$") or word end

-- The command's knee; false if it isn't known, nil if it starts nothing.
local function knee_of(command, knees)
    local words = {}
    for word in command:gmatch("%S+") do words[#words + 1] = (word:gsub("[\"']", "")) end
    local at = 1
    while words[at] and (before[words[at]] or words[at]:match("^[%w_]+=")) do at = at + 1 end
    local first = words[at]
    if not first or nothing[first] then return nil end
    if not starters[base(first)] then return knees[base(first)] or false end
    for i = at + 1, #words do
        if knees[base(words[i])] then return knees[base(words[i])] end
    end
    return false
end

-- The largest knee of a script's programs and the largest minimum in it; nil and a reason if it has to stay.
local function judge(script, options, knees)
    local all = script .. "\n" .. options
    local knee, least = nil, 1
    for scaf in all:gmatch("%-%-scaf[= ](%S+)") do
        local list = "," .. scaf:gsub("[\"']", "") .. ","
        if list:find(",exact,", 1, true) then return nil, "its results keep their bits" end
        if list:find(",off,", 1, true) then return nil, "it has --scaf=off" end
        least = math.max(least, tonumber(list:match(",min=(%d+),")) or 1)
    end
    if all:find("OMP_NUM_THREADS=[\"']?%d") then return nil, "its OMP_NUM_THREADS is a number" end
    for line in script:gsub("\\\n", " "):gmatch("[^\n]+") do
        if not line:match("^%s*#") then
            if line:match("scaf%s+run%s") then
                if line:match("%s%-%-exact%s") then return nil, "its results keep their bits" end
                least = math.max(least, tonumber(line:match("%s%-%-min[= ](%d+)")) or 1)
            end
            for command in line:gsub("[&|]+", ";"):gmatch("[^;]+") do
                local its = knee_of(command, knees)
                if its == false then return nil, "it starts what has no known knee: " .. command end
                if its then knee = math.max(knee or 1, its) end
            end
        end
    end
    if not knee then return nil, "it starts nothing with a known knee" end
    return knee, least
end

local function is_set(number)
    return type(number) == "number" and number ~= slurm.NO_VAL and number ~= slurm.NO_VAL16 and number > 0
end

local function options_of(job)
    -- sbatch hands over --scaf from the command line in the environment.
    local environment = job.environment
    local value = environment and environment["_SLURM_SPANK_OPTION_scaf_scaf"]
    return type(value) == "string" and "--scaf=" .. value or ""
end

local function lower(job)
    if not partitions[job.partition or ""] then return end
    local asked = job.cpus_per_task
    if not job.script or not is_set(asked) or job.shared == 0 then return end
    local knees = read_knees(knees_file)
    if not knees then
        slurm.log_info("scaf: can't read %s; requests stay as they are", knees_file)
        return
    end
    local knee, least = judge(job.script, options_of(job), knees)
    if not knee then
        slurm.log_info("scaf: CPUs per task stay %d: %s", asked, least)
        return
    end
    local cpus = math.max(knee, least)
    -- sbatch has raised the minimum of a node to the CPUs of a task; only what differs is the user's word.
    local by_sbatch = job.pn_min_cpus == asked
    if is_set(job.pn_min_cpus) and not by_sbatch then cpus = math.max(cpus, job.pn_min_cpus) end
    if cpus >= asked then return end
    if is_set(job.min_mem_per_cpu) then
        slurm.log_info("scaf: CPUs per task stay %d: its memory goes by CPUs", asked)
        return
    end
    if by_sbatch then job.pn_min_cpus = cpus end
    local tasks = is_set(job.num_tasks) and job.num_tasks or 1
    if job.min_cpus == tasks * asked then job.min_cpus = tasks * cpus end
    job.cpus_per_task = cpus
    slurm.log_info("scaf: CPUs per task %d lowered to %d", asked, cpus)
    slurm.log_user("scaf: CPUs per task lowered from %d to %d, beyond which its programs gain less than 5%%; " ..
        "--scaf=min=%d keeps them", asked, cpus, asked)
end

function slurm_job_submit(job, _, _)
    local ok, message = pcall(lower, job)
    if not ok then slurm.log_info("scaf: job_submit.lua: %s", tostring(message)) end
    return slurm.SUCCESS
end

function slurm_job_modify(_, _, _, _)
    return slurm.SUCCESS
end

return slurm.SUCCESS

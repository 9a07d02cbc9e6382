"""Tasks in one engine have the results that they have alone: random small graphs, several at a time.

Every instance is a random graph whose devices send in phases. A phase begins with OnHardwareIdle, when all packets
of the phase before have been received by all, so a task that is found idle too early has other states. Then it is
idle, or a device ends it: what ends a task early is compared where the order of packets is fixed.
"""
import json
import random
import subprocess
import sys

leat, seed, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
chance = random.Random(seed)
wrong = 0

HEAD = """<Graphs xmlns="https://poets-project.org/schemas/virtual-graph-schema-v4"><GraphType id="g">
<Properties>uint32_t sends; uint32_t phases; uint32_t what; uint32_t devices;</Properties>
<SharedCode><![CDATA[ static int calls; ]]></SharedCode>
<MessageTypes><MessageType id="m"><Message>uint32_t n[%d];</Message></MessageType>
<MessageType id="r"><Message>uint32_t phase;</Message></MessageType></MessageTypes>
<DeviceTypes><DeviceType id="d"><Properties>uint32_t me;</Properties>
<State>uint32_t n; uint32_t phase; uint32_t sum; uint32_t trace; uint32_t heard; uint32_t says;</State>
<OnInit><![CDATA[ handler_log(1, "begins"); return 1; ]]></OnInit>
<InputPin name="in" messageTypeId="m"><Properties>uint32_t w;</Properties><State>uint32_t n;</State><OnReceive><![CDATA[
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    edgeState->n++;
    deviceState->sum += message->n[0] * edgeProperties->w;
    if (deviceProperties->me == 0 && ++deviceState->heard == 9 && graphProperties->what) {
        assert(graphProperties->what != 3);
        handler_exit(graphProperties->what - 1);
    }
]]></OnReceive></InputPin>
<OutputPin name="out" messageTypeId="m"><OnSend><![CDATA[
    message->n[0] = deviceProperties->me + 17 * deviceState->n++ + deviceState->trace;
]]></OnSend></OutputPin>
<SupervisorOutPin messageTypeId="r"><OnSend><![CDATA[ message->phase = deviceState->phase; deviceState->says = 0; ]]></OnSend></SupervisorOutPin>
<SupervisorInPin messageTypeId="r"><OnReceive><![CDATA[ deviceState->sum += message->phase; ]]></OnReceive></SupervisorInPin>
<OnHardwareIdle><![CDATA[
    if (deviceState->phase < graphProperties->phases) {
        deviceState->phase++;
        deviceState->trace = 31 * deviceState->trace + deviceState->sum + calls; // a static variable is the task's own
        deviceState->n = 0;
        deviceState->says = 1;
    }
]]></OnHardwareIdle>
<ReadyToSend><![CDATA[
    if (deviceState->n < graphProperties->sends) *readyToSend |= RTS_FLAG_out;
    if (deviceState->says) *readyToSend |= RTS_SUPER_IMPLICIT_SEND_FLAG;
]]></ReadyToSend></DeviceType>
<SupervisorType id="s"><State>uint32_t reports = 0;</State>
<SupervisorInPin id="" messageTypeId="r"><OnReceive><![CDATA[
    if (++supervisorState->reports %% graphProperties->devices == 0) {
        Super::post("phase " + std::to_string(message->phase));
        bcast->phase = message->phase;
        RTSBCAST();
    }
    if (graphProperties->what == 4) Super::stop_application();
]]></OnReceive></SupervisorInPin>
<OnStop><![CDATA[ Super::post(std::to_string(supervisorState->reports) + " reports"); ]]></OnStop>
</SupervisorType></DeviceTypes></GraphType>
"""


def instance(name, what):
    count = chance.randint(1, 40)
    xml = '<GraphInstance id="%s" graphTypeId="g" P="{%d,%d,%d,%d}"><DeviceInstances>\n' % (
        name, chance.randint(1, 30), chance.randint(0, 4), what, count)
    for i in range(count):
        xml += '<DevI id="d%d" type="d" P="{%d}"/>\n' % (i, i)
    xml += "</DeviceInstances><EdgeInstances>\n"
    edges = {(chance.randrange(count), chance.randrange(count)) for _ in range(3 * count)} | {(0, count - 1)}
    for to, source in sorted(edges):
        xml += '<EdgeI path="d%d:in-d%d:out" P="{%d}"/>\n' % (to, source, chance.randint(1, 99))
    return xml + "</EdgeInstances></GraphInstance>\n"


def run(names, words):
    command = [leat, "graph", "run", "g.xml", "--json", "--until", "idle", *words]
    for name in names:
        command += ["--instance", name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=3000)
    tasks = [json.loads(line) for line in done.stdout.splitlines()]
    lines = [[] for _ in names]
    for line in done.stderr.splitlines():
        if " for the first time, " in line:
            continue
        task, text = 0, line
        if len(names) > 1 and line.startswith("task "):
            number, text = line[5:].split(": ", 1)
            task = int(number)
        if " (Thread 0x" in text:
            text = text.split(" (")[0] + " says" + text.split(")", 1)[1]
        lines[task].append(text)
    if [task["task"] for task in tasks] != list(range(len(names))) or [task["instance"] for task in tasks] != names:
        print("tasks of", command, done.stdout, done.stderr)
    return done.returncode, tasks, [sorted(some) for some in lines]


NEVER = ["task", "load_seconds", "compile_seconds", "seconds", "receives_per_second", "network"]
PLACES = ["threads", "cut_threads", "cut_workers", "cut_ranks"]


def what_counts(task, lines, words, what):
    """Everything where the order is fixed; where it is not, what the order of packets does not change."""
    exact = "--schedule" in words
    if what and not exact:
        return [task["reason"]]
    ignored = NEVER + (PLACES if "--fabric" in words else [])
    return [{key: value for key, value in task.items() if key not in ignored}, lines]


for number in range(rounds):
    kinds = {"a": 0, "b": 0, "c": chance.choice((0, 1, 2, 3, 4)), "d": chance.choice((0, 4)), "e": 0}
    with open("g.xml", "w") as file:
        file.write(HEAD % chance.choice((1, 9)) + "".join(instance(*kind) for kind in kinds.items()) + "</Graphs>\n")
    names = [chance.choice(list(kinds)) for _ in range(chance.randint(2, 7))]
    for words in (["-j", str(chance.choice((1, 2, 3, 5)))],
                  ["--schedule", chance.choice(("fifo", "lifo", "random", "delay:0.4")), "--seed", str(number)],
                  ["--fabric", chance.choice(("tinsel:1,1", "ring16", "mesh:2,2", "clos444")), "--mailbox",
                   chance.choice(("threads=64", "threads=2,slots=2"))]):
        alone = {name: run([name], words) for name in set(names)}
        code, tasks, lines = run(names, words)
        got = [what_counts(task, said, words, kinds[name]) for task, said, name in zip(tasks, lines, names)]
        want = [what_counts(alone[name][1][0], alone[name][2][0], words, kinds[name]) for name in names]
        if got != want or code != max(alone[name][0] for name in names):
            wrong += 1
            print("round", number, "seed", seed, words, names, kinds, "exit code", code)
            for one, other, name in zip(got, want, names):
                if one != other:
                    print(name, "got", one, "\nalone", other)
sys.exit(wrong != 0)

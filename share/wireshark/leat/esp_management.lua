-- The management packets of ESP, opcodes 64 to 71: fields behind the head, then MAC and CRC.
-- proto/esp/README.md, "Management", has the layouts. As elsewhere the first fault ends the reading.

return function(leat)
    local management = {}

    local BINDINGS_MAX, COPIES_MAX, PAYLOAD_MAX, WORDS_MAX = 32, 8, 1024, 264
    local OPERANDS, MAC_LEN = 7, 8

    management.opcodes = {
        [64] = "QUERY", [65] = "REPLY", [66] = "JOIN", [67] = "ANNOUNCE", [68] = "INSTALL",
        [69] = "INSTALLED", [70] = "CAST", [71] = "WELCOME",
    }
    local stores = { [1] = "centre", [2] = "output", [4] = "input" }
    local services = {
        [0] = "none", [1] = "census", [2] = "max", [3] = "min", [4] = "sum", [5] = "average",
        [6] = "robust-sum", [7] = "robust-average", [8] = "tree", [9] = "multicast",
    }
    local values = { [0] = "task", [1] = "own", [2] = "part" }
    local results = { [0] = "installed", [1] = "removed", [2] = "full", [3] = "stale" }
    local flags = { [0] = "-", [1] = "value" }
    local welcome_flags = { [0] = "-", [1] = "known" }

    management.fields = {
        { "target", "u64", hex = true }, { "nonce", "u64", hex = true },
        { "store", "u32", names = stores }, { "cursor", "u32" },
        { "storeOctet", "u8", names = stores, label = "store" }, { "next", "u32" },
        { "tau", "u64" }, { "bindings", "group" }, { "tag", "u64", hex = true }, { "value", "u64" },
        { "remaining", "u64" }, { "group", "u64", hex = true }, { "member", "u64", hex = true },
        { "has", "u8", names = flags }, { "is", "u8", names = welcome_flags },
        { "challenge", "u64", hex = true }, { "announced", "u64", hex = true },
        { "lifetimeMs", "u32" }, { "serial", "u64", hex = true },
        { "service", "u8", names = services }, { "phase", "u8" }, { "rounds", "u16" },
        { "valueFrom", "u8", names = values }, { "valueShift", "u8" }, { "delayUs", "u32" },
        { "intervalUs", "u32" },
        { "task", "group" }, { "count", "u16" }, { "countOctet", "u8", label = "count" },
        { "children", "u16" }, { "parent", "u64", hex = true },
        { "nextHop", "group", label = "next", filter = "next_hop" }, { "address", "octets" },
        { "port", "u16" }, { "node", "u64", hex = true }, { "result", "u32", names = results },
        { "hops", "u8" }, { "payloadLen", "u16" }, { "payload", "octets" },
        { "zeros", "octets" }, { "mac", "u64", hex = true },
    }

    -- A packet at hand: where the reading is, where the operands end, the first fault.
    local reader = {}
    reader.__index = reader

    function reader:refuse(item, code)
        self.fault = self.fault or { item, code }
    end

    -- The next `len` octets as a field; nil where they are not there, or after a fault.
    function reader:take(name, len, tree)
        if self.fault then return nil end
        if self.at + len > self.stop then
            self:refuse(self.length, "LENGTH")
            return nil
        end
        if len == 0 then return nil end
        local range = self.tvb(self.at, len)
        self.at = self.at + len
        return (tree or self.tree):add(self.f[name], range), range
    end

    function reader:fields(names, tree)
        for _, name in ipairs(names) do
            self:take(name, 8, tree)
        end
    end

    -- A number of at most 32 bits that must be a key of `allowed`, or at most `allowed`.
    function reader:number(name, len, allowed, code)
        local item, range = self:take(name, len)
        if not item then return nil end
        local number = range:uint()
        local fine = allowed == nil or (type(allowed) == "table" and allowed[number])
            or (type(allowed) == "number" and number <= allowed)
        if not fine then self:refuse(item, code or "RANGE") end
        return number
    end

    function reader:zeros(len, tree)
        local item, range = self:take("zeros", len, tree)
        if item and range:raw():find("[^%z]") then self:refuse(item, "RESERVED") end
    end

    local walk = {}

    function walk.QUERY(r)
        r:fields { "target", "nonce" }
        r:number("store", 4, stores)
        r:number("cursor", 4)
    end

    function walk.REPLY(r)
        r:fields { "node", "nonce" }
        r:number("storeOctet", 1, stores)
        r:zeros(1)
        local count = r:number("count", 2, BINDINGS_MAX)
        r:number("next", 4)
        r:fields { "tau" }
        for _ = 1, r.fault and 0 or count do
            if r.at + 24 > r.stop then return r:refuse(r.length, "LENGTH") end
            r:fields({ "tag", "value", "remaining" }, r.tree:add(r.f.bindings, r.tvb(r.at, 24)))
        end
    end

    local function next_hop(r, tree)
        r:take("address", 16, tree)
        r:take("port", 2, tree)
        r:zeros(6, tree)
    end

    function walk.JOIN(r)
        r:fields { "group", "member", "serial", "challenge", "value" }
        r:number("has", 1, 1, "RESERVED")
        r:zeros(3)
        r:number("lifetimeMs", 4)
        next_hop(r)
    end

    function walk.WELCOME(r)
        r:fields { "group", "member", "serial", "challenge", "announced" }
        r:number("is", 1, 1, "RESERVED")
        r:zeros(7)
    end

    function walk.ANNOUNCE(r)
        r:fields { "group", "member", "serial" }
        r:number("service", 1, services)
        r:number("phase", 1)
        if r.fault then return end
        if r.at + 2 > r.stop then return r:refuse(r.length, "LENGTH") end
        local task = r.tree:add(r.f.task, r.tvb(r.at, 2))
        local code = r.tvb(r.at, 1):uint()
        local opcode = task:add(r.f.opcode, r.tvb(r.at, 1))
        local row = r.instructions[code]
        if not row then return r:refuse(opcode, "TYPE") end
        local control = r.add_control(task, r.tvb(r.at + 1, 1))
        if r.tvb(r.at + 1, 1):bitfield(3, 1) == 1 then r:refuse(control, "RESERVED") end
        r.at = r.at + 2
        r:number("rounds", 2)
        r:number("valueFrom", 1, values)
        r:number("valueShift", 1, 63)
        r:number("delayUs", 4)
        r:number("intervalUs", 4)
        if r.fault then return end
        local len = 8 * (#row - 1)
        if r.at + len > r.stop then return r:refuse(r.length, "LENGTH") end
        local fault = r.add_operands(task, r.tvb, row, r.at)
        if fault then r:refuse(fault[1], fault[2]) end
        r.at = r.at + len
        r:zeros(8 * OPERANDS - len)
    end

    function walk.INSTALL(r)
        r:fields { "group", "target", "serial" }
        r:number("lifetimeMs", 4)
        local count = r:number("countOctet", 1, COPIES_MAX)
        r:zeros(1)
        if r:number("children", 2) ~= 0 then r:fields { "parent" } end
        for _ = 1, r.fault and 0 or count do
            if r.at + 24 > r.stop then return r:refuse(r.length, "LENGTH") end
            next_hop(r, r.tree:add(r.f.nextHop, r.tvb(r.at, 24)))
        end
    end

    function walk.INSTALLED(r)
        r:fields { "group", "node", "serial" }
        r:number("lifetimeMs", 4)
        r:number("result", 4, results)
    end

    function walk.CAST(r)
        r:fields { "group", "serial" }
        r:number("hops", 1)
        r:zeros(1)
        local len = r:number("payloadLen", 2, PAYLOAD_MAX)
        r:zeros(4)
        if r.fault then return end
        r:take("payload", len)
        r:zeros(-len % 8)
    end

    function management.length_is_possible(words)
        return words >= 2 and words <= WORDS_MAX and words % 2 == 0
    end

    -- Reads the operands of a packet whose CRC lies at crc_at; the first fault, if any. `parts` has
    -- what the instructions have too: fields, instructions, add_control, add_operands.
    function management.walk(parts, name, tree, length, tvb, operands_at, crc_at)
        local r = setmetatable({ tree = tree, tvb = tvb, length = length, at = operands_at,
                                 stop = crc_at - MAC_LEN }, reader)
        for key, part in pairs(parts) do r[key] = part end
        walk[name](r)
        if r.at ~= r.stop then r:refuse(length, "LENGTH") end
        tree:add(r.f.mac, tvb(crc_at - MAC_LEN, MAC_LEN))
        return r.fault
    end

    return management
end

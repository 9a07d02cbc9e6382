-- ATON as on the ring: the serial image of a packet or a token, four symbols in each octet (0, 1, J,
-- K are 0 to 3, the first in the highest bits). Carried by capture link type USER5.
--
--     SD(8) AC(8) CTL(16) DA(16) SA(16) data FLG(8) CRC(32) ED(8)       a token: SD AC ED
--
-- Counter, Variable-2, Variable-1 of ADD, AND and OR, BITCOUNT's counters and the CRC travel with
-- their least significant bit first. aton.lua passes what both images share.

return function(leat)
    return function(shared)
    local SYMBOLS_MAX, SORT, BITCOUNT, TREE, OR = 65536, 9, 10, 11, 3
    local SD, ED = { 2, 3, 0, 2, 3, 0, 0, 0 }, { 2, 3, 1, 2, 3, 1 }
    local FLG_LEN, CRC_LEN, TRAILER_LEN = 8, 32, 48
    local bxor, rshift = leat.bit.bxor, leat.bit.rshift

    local serial = leat.protocol("leat_atonserial", "ATON Serial Image (leat)", "leat ATON serial", {
        { "priority", "u8" },
        { "token", "bool" },
        { "monitor", "bool" },
        { "reservation", "u8" },
        { "active", "bool" },
        { "opcode", "u8", names = shared.opcodes },
        { "width", "u8" },
        { "register", "u8" },
        { "group", "bool" },
        { "da", "u16", hex = true },
        { "sa", "u16", hex = true },
        { "counter", "u16" },
        { "variable1", "u64" },
        { "variable2", "u64" },
        { "param", "u16" },
        { "values", "u64" },
        { "counters", "u64" },
        { "slots", "group" },
        { "valid", "bool", filter = "slots.valid" },
        { "value", "u64", filter = "slots.value" },
        { "length", "u16" },
        { "octets", "octets" },
        { "flags", "u8", hex = true },
        { "A", "bool", filter = "flags.a" },
        { "C", "bool", filter = "flags.c" },
        { "crc", "u32", hex = true, crc = true },
        { "intermediate", "bool" },
        { "errorBit", "bool", label = "error", filter = "error_bit" },
        { "padding", "octets" },
    })
    local f = serial.f

    -- ---------------------------------------------------------------- reading symbols

    -- A reading in progress: m.at is the next symbol. What is wrong first is in m.code.
    local reading = {}
    reading.__index = reading

    function reading:symbol(i)
        local octet = self.tvb(math.floor(i / 4), 1):uint()
        return math.floor(octet / 4 ^ (3 - i % 4)) % 4
    end

    function reading:blame(code)
        self.code = self.code or code
    end

    -- The octets that hold symbols from .. to - 1.
    function reading:range(from, to)
        local first = math.floor(from / 4)
        return self.tvb(first, math.floor((to - 1) / 4) - first + 1)
    end

    function reading:expect(pattern)
        for _, wanted in ipairs(pattern) do
            if self.code then return end
            if self.at >= self.count then
                self:blame("SHORT")
            elseif self:symbol(self.at) ~= wanted then
                self:blame("RANGE")
            end
            self.at = self.at + 1
        end
    end

    -- A number of up to 64 bits: its lower and upper 32, and the octets that it is in.
    function reading:take(bits, lsb_first)
        local lo, hi, from = 0, 0, self.at
        for i = 0, bits - 1 do
            if self.code then return 0, 0 end
            if self.at >= self.count then
                self:blame("SHORT")
                return 0, 0
            end
            local bit = self:symbol(self.at)
            if bit > 1 then
                self:blame("RANGE")
                return 0, 0
            end
            self.at = self.at + 1
            local power = lsb_first and i or bits - 1 - i
            if power < 32 then lo = lo + bit * 2 ^ power else hi = hi + bit * 2 ^ (power - 32) end
        end
        return lo, hi, self:range(from, self.at)
    end

    local wide = { variable1 = true, variable2 = true, value = true } -- of 64 bits

    -- A field with such a number. Returns the number, its lower half, and the item.
    function reading:add(tree, label, bits, lsb_first)
        local lo, hi, range = self:take(bits, lsb_first)
        if self.code then return 0 end
        local value = wide[label] and UInt64.new(lo, hi) or lo
        return lo, tree:add(f[label], range, value)
    end

    -- ---------------------------------------------------------------- fields

    local function add_ac(m, tree)
        m:add(tree, "priority", 3)
        local token = m:add(tree, "token", 1)
        m:add(tree, "monitor", 1)
        m:add(tree, "reservation", 3)
        return token == 1
    end

    -- Returns what CTL means, or nil.
    local function add_ctl(m, tree)
        local from = m.at
        local ctl = m:take(16)
        if m.code then return nil end
        local head, code = shared.read_ctl(ctl)
        if not head then return m:blame(code) end
        m.at = from
        m:add(tree, "active", 1)
        local range = m:range(from, from + 16)
        if head.active then
            tree:add(f.opcode, range, head.opc)
            tree:add(f.width, range, 8 * head.width_len)
            tree:add(f.register, range, math.floor(ctl / 8) % 64)
            tree:add(f.group, range, head.group and 1 or 0)
        end
        m.at = from + 16
        return head
    end

    -- From CTL to the end of the data's head. Returns the head and its payload's shape, or nil.
    local function add_head(m, tree)
        local head = add_ctl(m, tree)
        if not head then return nil end
        local da = m:add(tree, "da", 16)
        if head.group and da >= shared.groups_max then m:blame("RANGE") end
        local sa = m:add(tree, "sa", 16)
        local first = m:add(tree, head.active and "counter" or "length", 16, head.active)
        if head.active and first > shared.interfaces_max then m:blame("RANGE") end
        local w, fold = 8 * head.width_len, head.active and head.opc < SORT
        local param = 0
        if fold then
            m:add(tree, "variable1", w, head.opc <= OR)
            m:add(tree, "variable2", w, true)
        elseif head.active then
            param = m:add(tree, "param", 16)
        end
        if m.code then return nil end
        leat.info(string.format("%s 0x%04x to 0x%04x",
            head.active and shared.opcodes[head.opc] or "passive", sa, da))
        if fold then return head, { count = 0, bits = 0 } end
        local shape, code = shared.read_shape(head, first, param)
        if not shape then return m:blame(code) end
        shape.bits = shape.flag_len + 8 * shape.value_len
        if head.active and head.opc == BITCOUNT then shape.bits = param end
        return head, shape
    end

    -- A passive packet's octets, as they would be in the octet image, which is a Tvb of its own: a
    -- field of octets is as long as its range.
    local function add_octets(m, tree, count)
        local octets = ByteArray.new()
        octets:set_size(count)
        for i = 0, count - 1 do
            octets:set_index(i, (m:take(8)))
        end
        if m.code or count == 0 then return end
        tree:add(f.octets, octets:tvb("octets")())
    end

    local function add_payload(m, tree, head, shape)
        if not head.active then return add_octets(m, tree, shape.count) end
        for i = 0, shape.count - 1 do
            if m.code then return end
            if head.opc == TREE then
                local item = tree:add(f.slots, m:range(m.at, m.at + shape.bits))
                item:append_text(" " .. i)
                m:add(item, "valid", 1)
                m:add(item, "value", shape.bits - 1)
            elseif head.opc == BITCOUNT then
                local lo, hi, range = m:take(shape.bits, true)
                if m.code then return end
                tree:add(f.counters, range, UInt64.new(lo, hi))
                    :append_text(" interfaces with bit " .. i)
            else
                local lo, hi, range = m:take(shape.bits)
                if m.code then return end
                tree:add(f.values, range, UInt64.new(lo, hi))
            end
        end
    end

    -- Over the bits as sent, from AC to FLG; T, M, RRR and FLG count as 0.
    local function crc_of(m, flg_at)
        local crc = 0xffffffff
        local function shift(bit)
            local odd = (crc % 2) ~= bit
            crc = rshift(crc, 1)
            if odd then crc = bxor(crc, 0xedb88320) end
            crc = crc % 2 ^ 32
        end
        for i = 8, flg_at - 1 do
            shift((i >= 11 and i < 16) and 0 or m:symbol(i))
        end
        for _ = 1, FLG_LEN do
            shift(0)
        end
        return bxor(crc, 0xffffffff) % 2 ^ 32
    end

    local function add_ending(m, tree)
        m:expect(ED)
        m:add(tree, "intermediate", 1)
        m:add(tree, "errorBit", 1)
    end

    local function add_trailer(m, tree)
        local flg_at = m.at
        local flg, item = m:add(tree, "flags", FLG_LEN)
        local crc_at = m.at
        local crc = m:take(CRC_LEN, true)
        add_ending(m, tree)
        if m.code then return end
        item:add(f.A, math.floor(flg / 128) % 2)
        item:add(f.C, math.floor(flg / 64) % 2)
        local right, range = crc_of(m, flg_at), m:range(crc_at, crc_at + CRC_LEN)
        local should = string.format("0x%08x", right)
        leat.checksum_status(serial, tree, tree:add(f.crc, range, crc), "crc", range, crc == right,
            should)
        if crc ~= right then
            leat.fail(serial, tree, "CHECKSUM", "crc")
        elseif leat.bit.band(flg, 0x33) ~= 0 then
            m:blame("RESERVED")
        elseif math.floor(flg / 16) ~= flg % 16 then
            item:add_proto_expert_info(serial.bad_checksum, "the two copies of A and C differ")
            leat.fail(serial, item, "CHECKSUM", "flags")
        end
    end

    -- Is the image as long as its head says, and filled up with idle symbols?
    local function check_length(m, symbols)
        local len = math.ceil(symbols / 4)
        if symbols > SYMBOLS_MAX then
            m:blame("LENGTH")
        elseif m.tvb:len() < len then
            m:blame("SHORT")
        elseif m.tvb:len() > len then
            m.tree:add(f.padding, m.tvb(len))
            m:blame("LENGTH")
        else
            for i = symbols, 4 * len - 1 do
                if m:symbol(i) ~= 0 then m:blame("RESERVED") end
            end
        end
    end

    local function add_frame(m, tree)
        m:expect(SD)
        if add_ac(m, tree) then
            leat.info("token")
            if not m.code then check_length(m, 24) end
            return add_ending(m, tree)
        end
        local head, shape = add_head(m, tree)
        if m.code then return end
        check_length(m, m.at + shape.count * shape.bits + TRAILER_LEN)
        if m.code then return end
        add_payload(m, tree, head, shape)
        add_trailer(m, tree)
    end

    function serial.proto.dissector(tvb, pinfo, root)
        local tree = leat.begin(serial, tvb, pinfo, root)
        local m = setmetatable({ tvb = tvb, tree = tree, at = 0, count = 4 * tvb:len() }, reading)
        add_frame(m, tree)
        if m.code then leat.fail(serial, tree, m.code) end
    end

    leat.carry(serial.proto, { wtap_encap = wtap.USER5 })
    end
end

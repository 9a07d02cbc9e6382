-- ESP, ephemeral state processing. Carried by UDP port 4253, IP protocol 253, Ethernet type 0x88B5
-- and capture link type USER2, always as the bare packet.
--
--     octet 0   1        2..3     4..11           12..        last 4
--     control | opcode | length | computationId | operands  | crc
--     control: LLL0 FFFF, LLL = loc, FFFF = XR E R X
--
-- From opcode 64 on: management, whose operands are in esp_management.lua.

return function(leat)
    local OPERANDS_AT, CRC_LEN, MANAGEMENT = 12, 4, 64
    local management = leat.load("esp_management")

    -- What each opcode carries, in order. Every operand takes two 32-bit words.
    local instructions = {
        [0] = { "NOP" },
        [1] = { "COUNT", "compValTag", "thresh" },
        [2] = { "COMPARE", "compValTag", "pktVal", "compareOp" },
        [3] = { "COLLECT", "compValTag", "val", "chldCntTag", "foldOp" },
        [4] = { "RCHLD", "pktId", "sibCntTag", "fwdCntTag", "fwdThresh" },
        [5] = { "RCOLLECT", "pktId", "sibCntTag", "compIdTag", "val", "collectFwdTag", "fwdThresh",
                "foldOp" },
    }
    -- A key of the store; those of one packet differ.
    local tags = {
        compValTag = true, chldCntTag = true, pktId = true, sibCntTag = true, fwdCntTag = true,
        compIdTag = true, collectFwdTag = true,
    }
    local operators = {
        compareOp = {
            [0x01] = "LT", [0x02] = "LE", [0x03] = "GT", [0x04] = "GE", [0x05] = "EQ",
            [0x06] = "NE", [0x11] = "LT_S", [0x12] = "LE_S", [0x13] = "GT_S", [0x14] = "GE_S",
            [0x15] = "EQ_S", [0x16] = "NE_S",
        },
        foldOp = {
            [0x01] = "ADD", [0x02] = "MIN", [0x03] = "MAX", [0x04] = "AND", [0x05] = "OR",
            [0x06] = "XOR", [0x07] = "ADDSAT", [0x12] = "MIN_S", [0x13] = "MAX_S",
            [0x17] = "ADDSAT_S",
        },
    }
    local opcodes = {}
    for code, row in pairs(instructions) do
        opcodes[code] = row[1]
    end
    for code, name in pairs(management.opcodes) do
        opcodes[code] = name
    end

    local fields = {
        { "control", "u8", hex = true },
        { "loc", "u8", mask = 0xe0 },
        { "input", "bool", mask = 0x80, filter = "loc.input" },
        { "centre", "bool", mask = 0x20, filter = "loc.centre" },
        { "output", "bool", mask = 0x40, filter = "loc.output" },
        { "flags", "u8", mask = 0x0f, hex = true },
        { "XR", "bool", mask = 0x08, filter = "flags.xr" },
        { "E", "bool", mask = 0x04, filter = "flags.e" },
        { "R", "bool", mask = 0x02, filter = "flags.r" },
        { "X", "bool", mask = 0x01, filter = "flags.x" },
        { "opcode", "u8", names = opcodes },
        { "length", "u16" },
        { "computationId", "u64", hex = true },
        { "compValTag", "u64", hex = true },
        { "thresh", "u64" },
        { "pktVal", "u64" },
        { "val", "u64" },
        { "chldCntTag", "u64", hex = true },
        { "pktId", "u64", hex = true },
        { "sibCntTag", "u64", hex = true },
        { "fwdCntTag", "u64", hex = true },
        { "fwdThresh", "u64" },
        { "compIdTag", "u64", hex = true },
        { "collectFwdTag", "u64", hex = true },
        { "compareOp", "u32", names = operators.compareOp, label = "op", filter = "op" },
        { "foldOp", "u32", names = operators.foldOp, label = "op", filter = "op" },
        { "zero", "u32", hex = true },
        { "crc", "u32", hex = true, crc = true },
        { "trailing", "octets" },
    }
    for _, field in ipairs(management.fields) do
        fields[#fields + 1] = field
    end
    local esp = leat.protocol("leat_esp", "Ephemeral State Processing (leat)", "leat ESP", fields)
    local f = esp.f

    local function add_control(tree, range)
        local control = tree:add(f.control, range)
        for _, name in ipairs { "loc", "input", "centre", "output", "flags" } do
            control:add(f[name], range)
        end
        local set = {}
        for i, name in ipairs { "XR", "E", "R", "X" } do
            control:add(f[name], range)
            if range:bitfield(3 + i, 1) == 1 then set[#set + 1] = name end
        end
        return control, table.concat(set, "|")
    end

    -- The first fault behind the checksum, in the order of the decoder: tags, then the operator.
    local function add_operands(tree, tvb, row, at)
        local seen, fault = {}, nil
        for i = 2, #row do
            local name, range = row[i], tvb(at + 8 * (i - 2), 8)
            if operators[name] then
                local op, zero = tree:add(f[name], range(0, 4)), tree:add(f.zero, range(4, 4))
                if not operators[name][range(0, 4):uint()] then
                    fault = fault or { op, "TYPE" }
                elseif range(4, 4):uint() ~= 0 then
                    fault = fault or { zero, "RESERVED" }
                end
            else
                local item = tree:add(f[name], range)
                local key = range:bytes():tohex()
                if tags[name] and seen[key] then
                    fault = fault or { item, "DUPLICATE" }
                end
                seen[key] = tags[name] or seen[key]
            end
        end
        return fault
    end

    local parts = { f = f, instructions = instructions, add_control = add_control,
                    add_operands = add_operands }

    function esp.proto.dissector(tvb, pinfo, root)
        local len = tvb:len()
        local tree = leat.begin(esp, tvb, pinfo, root)
        if len < OPERANDS_AT + CRC_LEN then
            return leat.fail(esp, tree, "SHORT")
        end
        local control, flags = add_control(tree, tvb(0, 1))
        local opcode = tree:add(f.opcode, tvb(1, 1))
        local length = tree:add(f.length, tvb(2, 2))
        length:append_text(" words of operands")
        tree:add(f.computationId, tvb(4, 8))

        local code, words = tvb(1, 1):uint(), tvb(2, 2):uint()
        local row, managed = instructions[code], code >= MANAGEMENT
        if not opcodes[code] then
            return leat.fail(esp, opcode, "TYPE")
        end
        leat.info(opcodes[code] .. (flags ~= "" and " [" .. flags .. "]" or "") .. " computation 0x"
            .. tvb(4, 8):bytes():tohex(true))
        if managed and tvb(0, 1):uint() ~= 0 then
            return leat.fail(esp, control, "RESERVED")
        end
        if managed and not management.length_is_possible(words)
            or row and words ~= 2 * (#row - 1) then
            return leat.fail(esp, length, "LENGTH")
        end
        local crc_at = OPERANDS_AT + 4 * words
        if len < crc_at + CRC_LEN then
            return leat.fail(esp, tree, "SHORT")
        end
        tree:set_len(crc_at + CRC_LEN)
        if len > crc_at + CRC_LEN then tree:add(f.trailing, tvb(crc_at + CRC_LEN)) end
        local fault
        if managed then
            fault = management.walk(parts, opcodes[code], tree, length, tvb, OPERANDS_AT, crc_at)
        else
            fault = add_operands(tree, tvb, row, OPERANDS_AT)
        end
        local right = leat.crc32(tvb:raw(0, crc_at))
        if leat.checksum(esp, tree, "crc", tvb(crc_at, CRC_LEN), 32, right) and fault then
            leat.fail(esp, fault[1], fault[2])
        end
    end

    leat.carry(esp.proto, { wtap_encap = wtap.USER2, ethertype = 0x88b5, ["udp.port"] = 4253,
                            ["ip.proto"] = 253 })
end

-- POETS packets. Carried by UDP port 4255 and capture link type USER4, each behind a small frame:
--
--     direction (8) | length (8) | hwAddr (32) | packet, 1 to 4 flits of 16 octets | padding
--
--     packet: swAddr (32) | pinAddr (32) | payload      swAddr: MS CNC task(6) opcode(8) device(16)
--
-- Everything is little-endian.

return function(leat)
    local FRAME_LEN, FLIT_LEN, HEADER_LEN, DEVICE_ALL = 6, 16, 8, 0xffff
    local DEV, CTL, EXT, SUP = 0, 1, 2, 3
    local OP_IMPL, OP_INSTR, OP_LOG = 0xfa, 0xfb, 0xfc

    local classes = { [DEV] = "DEV", [CTL] = "CTL", [EXT] = "EXT", [SUP] = "SUP" }
    local opcodes = {
        [0x00] = "NOP", [0xfa] = "IMPL", [0xfb] = "INSTR", [0xfc] = "LOG", [0xfd] = "BARRIER",
        [0xfe] = "STOP", [0xff] = "KILL",
    }
    local directions = { [0] = "toFabric", [1] = "toHost" }
    local counters = {
        "cIDX", "cycles", "rxCnt", "rxHanCnt", "txCnt", "supCnt", "txHanCnt", "idleCnt",
        "idleHanCnt", "blockCnt", "missCount", "hitCount", "writebackCount", "CPUIdleCount",
    }

    local fields = {
        { "direction", "u8", names = directions },
        { "length", "u8" },
        { "hwAddr", "u32", hex = true },
        { "swAddr", "u32", hex = true },
        { "MS", "bool", mask = 0x80000000, of = "u32" },
        { "CNC", "bool", mask = 0x40000000, of = "u32" },
        { "class", "u8", names = classes },
        { "compat", "text" },
        { "task", "u32", mask = 0x3f000000 },
        { "opcode", "u32", mask = 0x00ff0000, names = opcodes },
        { "device", "u32", mask = 0x0000ffff },
        { "pinAddr", "u32", hex = true },
        { "edge", "u32", mask = 0xffffff00 },
        { "pin", "u32", mask = 0x000000ff },
        { "sender", "u32", hex = true },
        { "nflit", "u8" },
        { "payload", "octets" },
        { "padding", "octets" },
        { "seq", "u8", filter = "log.seq" },
        { "text", "text", filter = "log.text" },
    }
    for _, name in ipairs(counters) do
        fields[#fields + 1] = { name, "u32", filter = "instr." .. leat.snake(name) }
    end
    local poets = leat.protocol("leat_poets", "POETS Packet (leat)", "leat POETS", fields)
    local f = poets.f

    -- The class of a swAddr, or the code of why it has none.
    local function class_of(sw)
        local class = math.floor(sw / 0x40000000)
        local opcode, device = math.floor(sw / 0x10000) % 256, sw % 0x10000
        if (class == DEV or class == EXT) and opcode ~= 0 then
            -- The original's replies have no CNC; they are what they mean.
            if class == EXT or opcode ~= OP_IMPL then return nil, "P_E_OPNOCNC" end
            return CTL
        elseif class == SUP and device ~= 0 then
            return nil, "P_E_SUPDEV"
        end
        return class
    end

    local function add_payload(tree, payload, class, opcode)
        local len = payload:len()
        local item = tree:add(f.payload, payload)
        if class == SUP and opcode == OP_INSTR and len >= 40 then
            for i = 1, len / 4 do
                item:add_le(f[counters[i]], payload(4 * (i - 1), 4))
            end
        elseif class == SUP and opcode == OP_LOG then
            item:add(f.seq, payload(0, 1))
            item:add(f.text, payload(1, #payload:raw(1):match("^[^\0]*")))
        end
    end

    -- pinAddr, by class; returns what it adds to the summary.
    local function add_pin(tree, range, class)
        if class == DEV or class == EXT then
            local item = tree:add_le(f.pinAddr, range)
            item:add_le(f.edge, range)
            item:add_le(f.pin, range)
            return " pin " .. range:le_uint() % 256
        elseif class == SUP then
            tree:add_le(f.sender, range)
            return string.format(" from 0x%x", range:le_uint())
        end
        tree:add_le(f.pinAddr, range)
        return ""
    end

    local function add_packet(tree, tvb)
        local len = tvb:len()
        if len % FLIT_LEN ~= 0 or len > 4 * FLIT_LEN then
            return leat.fail(poets, tree, "P_E_FLITS")
        end
        local range = tvb(0, 4)
        local sw = range:le_uint()
        local class, code = class_of(sw)
        local opcode, device = math.floor(sw / 0x10000) % 256, sw % 0x10000
        local item = tree:add_le(f.swAddr, range)
        for _, name in ipairs { "MS", "CNC", "task", "opcode", "device" } do
            item:add_le(f[name], range)
        end
        if not class then return leat.fail(poets, item, code) end
        item:add(f.class, range, class):set_generated()
        if class == CTL and sw < 0x40000000 then
            item:add(f.compat, "reply_cnc0"):set_generated()
        end

        local info = classes[class]
        if class == CTL or class == SUP then
            info = info .. " " .. (opcodes[opcode] or string.format("0x%02x", opcode))
        end
        if class ~= SUP then
            info = info .. (device == DEVICE_ALL and " all devices" or " device " .. device)
        end
        info = info .. add_pin(tree, tvb(4, 4), class)
        leat.info(info .. ", task " .. math.floor(sw / 0x1000000) % 64)
        tree:add(f.nflit, len / FLIT_LEN):set_generated()
        add_payload(tree, tvb(HEADER_LEN), class, opcode)
    end

    function poets.proto.dissector(tvb, pinfo, root)
        local tree = leat.begin(poets, tvb, pinfo, root)
        if tvb:len() < FRAME_LEN then return leat.fail(poets, tree, "SHORT") end
        local direction = tree:add(f.direction, tvb(0, 1))
        local length = tree:add(f.length, tvb(1, 1))
        tree:add_le(f.hwAddr, tvb(2, 4))
        local announced, left = tvb(1, 1):uint(), tvb:len() - FRAME_LEN
        if announced > left then return leat.fail(poets, length, "SHORT") end
        if not directions[tvb(0, 1):uint()] then return leat.fail(poets, direction, "TYPE") end
        if announced == 0 then return leat.fail(poets, length, "P_E_FLITS") end
        add_packet(tree, tvb(FRAME_LEN, announced):tvb())
        if announced < left then tree:add(f.padding, tvb(FRAME_LEN + announced)) end
    end

    leat.carry(poets.proto, { wtap_encap = wtap.USER4, ["udp.port"] = 4255 })
end

-- ATON, shift arithmetic on a token ring: the octet image of a packet. Carried as it is by capture
-- link type USER1; on Ethernet (type 0x88B6) behind the header of the live ring.
--
--     AC | CTL | DA | SA | data | FLG | CRC-32
--
--     data   opc 1..8   Counter, Variable-1, Variable-2
--            opc 9..11  Counter, PARAM, payload
--            passive    length, that many octets

return function(leat)
    local DATA_AT, FLG_LEN, CRC_LEN, RING_HEADER_LEN, MAC_LEN = 7, 1, 4, 12, 8
    local INTERFACES_MAX, COUNTER_BITS_MAX, SLOTS_MAX, GROUPS_MAX = 65534, 16, 17, 32
    local SORT, BITCOUNT, TREE = 9, 10, 11

    local opcodes = {
        "ADD", "AND", "OR", "MAX", "MIN", "EQ", "LT", "LE", "SORT", "BITCOUNT", "TREE",
    }
    local widths = { [0] = "16", [1] = "32", [2] = "64" }

    local aton = leat.protocol("leat_aton", "ATON Token Ring Arithmetic (leat)", "leat ATON", {
        { "ringId", "u32", hex = true },
        { "sequence", "u32" },
        { "hopsLeft", "u8" },
        { "ringFlags", "u8", hex = true },
        { "ringZero", "u16", hex = true },
        { "mac", "u64", hex = true },
        { "padding", "octets" },
        { "ac", "u8", hex = true },
        { "priority", "u8", mask = 0xe0 },
        { "token", "bool", mask = 0x10 },
        { "monitor", "bool", mask = 0x08 },
        { "reservation", "u8", mask = 0x07 },
        { "ctl", "u16", hex = true },
        { "active", "bool", mask = 0x8000, of = "u16" },
        { "opcode", "u16", mask = 0x7800, names = opcodes },
        { "width", "u16", mask = 0x0600, names = widths },
        { "register", "u16", mask = 0x01f8 },
        { "group", "bool", mask = 0x0004, of = "u16" },
        { "zero", "u16", mask = 0x0003 },
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
        { "A", "bool", mask = 0x88, filter = "flags.a" },
        { "C", "bool", mask = 0x44, filter = "flags.c" },
        { "crc", "u32", hex = true, crc = true },
    })
    local f = aton.f
    aton.proto.prefs.mac = Pref.bool("A key is configured", false,
        "On Ethernet, the last eight octets are a SipHash-2-4 over the ring header and the packet")

    local function add_bits(tree, label, range, names)
        local item = tree:add(f[label], range)
        for _, name in ipairs(names) do
            item:add(f[name], range)
        end
        return item
    end

    -- What CTL means, or the code of what is wrong with it.
    local function read_ctl(ctl)
        local active, opc = ctl >= 0x8000, math.floor(ctl / 0x800) % 16
        local width = math.floor(ctl / 0x200) % 4
        if ctl % 4 ~= 0 or (not active and ctl ~= 0) then return nil, "RESERVED" end
        if active and not opcodes[opc] then return nil, "TYPE" end
        if width > 2 then return nil, "RANGE" end
        local group = math.floor(ctl / 4) % 2 == 1
        return { active = active, opc = opc, width_len = 2 ^ (width + 1), group = group }
    end

    -- How the payload is divided: count items of an optional flag octet and a value. Or the code of
    -- what is wrong with PARAM.
    local function read_shape(head, first, param)
        if not head.active then
            return { count = first, flag_len = 0, value_len = 1 }
        elseif head.opc == SORT then
            if param ~= 0 then return nil, "RESERVED" end
            return { count = first, flag_len = 0, value_len = head.width_len }
        elseif head.opc == BITCOUNT then
            if param < 1 or param > COUNTER_BITS_MAX then return nil, "RANGE" end
            return { count = 8 * head.width_len, flag_len = 0, value_len = math.ceil(param / 8),
                     limit = 2 ^ param }
        end
        if param < 1 or param > SLOTS_MAX then return nil, "RANGE" end
        return { count = param, flag_len = 1, value_len = head.width_len }
    end

    -- Adds the items; returns the first that its octets make too large, if any.
    local function add_payload(tree, payload, head, shape)
        local fault
        for i = 0, shape.count - 1 do
            local range = payload(i * (shape.flag_len + shape.value_len),
                shape.flag_len + shape.value_len)
            if head.opc == TREE then
                local item = tree:add(f.slots, range)
                item:append_text(" " .. i)
                item:add(f.valid, range(0, 1))
                item:add(f.value, range(1))
                if range(0, 1):uint() > 1 then fault = fault or item end
            elseif head.opc == BITCOUNT then
                local item = tree:add(f.counters, range)
                item:append_text(" interfaces with bit " .. i)
                if range:uint() >= shape.limit then fault = fault or item end
            else
                tree:add(f.values, range)
            end
        end
        return fault
    end

    -- FLG and the CRC over the image before it, with the bits that stations change taken as 0.
    local function add_trailer(tree, tvb, at, fault)
        local flg_range = tvb(at, FLG_LEN)
        local flg = flg_range:uint()
        local item = tree:add(f.flags, flg_range)
        item:add(f.A, flg_range)
        item:add(f.C, flg_range)
        local ac = tvb(0, 1):uint()
        local image = string.char(ac - ac % 32) .. tvb:raw(1, at - 1) .. "\0"
        local right = leat.crc32(image)
        if not leat.checksum(aton, tree, "crc", tvb(at + FLG_LEN, CRC_LEN), 32, right) then
            return
        elseif fault then
            leat.fail(aton, fault, "RANGE")
        elseif leat.bit.band(flg, 0x33) ~= 0 then
            leat.fail(aton, item, "RESERVED")
        elseif math.floor(flg / 16) ~= flg % 16 then
            item:add_proto_expert_info(aton.bad_checksum, "the two copies of A and C differ")
            leat.fail(aton, item, "CHECKSUM", "flags")
        end
    end

    -- One image from the start of tvb. Returns its length, or nil where it is not sound; `exact`
    -- says that nothing may follow it.
    local function add_image(tree, tvb, exact)
        local len = tvb:len()
        if len < DATA_AT then return leat.fail(aton, tree, "SHORT") end
        local ac = add_bits(tree, "ac", tvb(0, 1),
            { "priority", "token", "monitor", "reservation" })
        local ctl = add_bits(tree, "ctl", tvb(1, 2),
            { "active", "opcode", "width", "register", "group", "zero" })
        local da = tree:add(f.da, tvb(3, 2))
        if tvb(3, 2):uint() == 0xffff then da:append_text(" (the whole ring)") end
        tree:add(f.sa, tvb(5, 2))
        if math.floor(tvb(0, 1):uint() / 16) % 2 == 1 then
            return leat.fail(aton, ac, "TYPE", "a token has no octet image")
        end
        local head, code = read_ctl(tvb(1, 2):uint())
        if not head then return leat.fail(aton, ctl, code) end
        if head.group and tvb(3, 2):uint() >= GROUPS_MAX then
            return leat.fail(aton, da, "RANGE")
        end
        local fold = head.active and head.opc < SORT
        leat.info(string.format("%s 0x%04x to 0x%04x",
            head.active and opcodes[head.opc] or "passive", tvb(5, 2):uint(), tvb(3, 2):uint()))

        local payload_at = fold and 9 + 2 * head.width_len or head.active and 11 or 9
        if len < payload_at then return leat.fail(aton, tree, "SHORT") end
        local first = tvb(DATA_AT, 2):uint()
        local first_item = tree:add(head.active and f.counter or f.length, tvb(DATA_AT, 2))
        if head.active and first > INTERFACES_MAX then
            return leat.fail(aton, first_item, "RANGE")
        end
        local shape, payload_len = nil, 0
        if fold then
            tree:add(f.variable1, tvb(9, head.width_len))
            tree:add(f.variable2, tvb(9 + head.width_len, head.width_len))
        else
            local param_item = head.active and tree:add(f.param, tvb(9, 2))
            shape, code = read_shape(head, first, head.active and tvb(9, 2):uint())
            if not shape then return leat.fail(aton, param_item, code) end
            payload_len = shape.count * (shape.flag_len + shape.value_len)
        end
        local image_len = payload_at + payload_len + FLG_LEN + CRC_LEN
        if len < image_len then return leat.fail(aton, tree, "SHORT") end
        if exact and len > image_len then
            return leat.fail(aton, tree:add(f.padding, tvb(image_len)), "LENGTH")
        end
        local fault
        if payload_len > 0 then
            local payload = tvb(payload_at, payload_len)
            if head.active then
                fault = add_payload(tree, payload, head, shape)
            else
                tree:add(f.octets, payload)
            end
        end
        add_trailer(tree, tvb, payload_at + payload_len, fault)
        return image_len
    end

    function aton.proto.dissector(tvb, pinfo, root)
        local tree = leat.begin(aton, tvb, pinfo, root)
        add_image(tree, tvb, true)
    end

    -- The live ring: header, image, MAC where a key is configured, and the padding of Ethernet.
    local ring = Proto("leat_aton_ring", "ATON Live Ring (leat)")
    function ring.dissector(tvb, pinfo, root)
        local tree = leat.begin(aton, tvb, pinfo, root)
        if tvb:len() < RING_HEADER_LEN then return leat.fail(aton, tree, "SHORT") end
        tree:add(f.ringId, tvb(0, 4))
        tree:add(f.sequence, tvb(4, 4))
        tree:add(f.hopsLeft, tvb(8, 1))
        tree:add(f.ringFlags, tvb(9, 1))
        local zero = tree:add(f.ringZero, tvb(10, 2))
        if tvb(10, 2):uint() ~= 0 then return leat.fail(aton, zero, "RESERVED") end
        if tvb:len() == RING_HEADER_LEN then return leat.fail(aton, tree, "SHORT") end
        local image_len = add_image(tree, tvb(RING_HEADER_LEN):tvb(), false)
        if not image_len then return end
        local at = RING_HEADER_LEN + image_len
        if aton.proto.prefs.mac then
            if tvb:len() < at + MAC_LEN then return leat.fail(aton, tree, "SHORT", "MAC") end
            tree:add(f.mac, tvb(at, MAC_LEN))
            at = at + MAC_LEN
        end
        if tvb:len() > at then tree:add(f.padding, tvb(at)) end
    end

    leat.carry(aton.proto, { wtap_encap = wtap.USER1 })
    leat.load("aton_serial"){ opcodes = opcodes, widths = widths, read_ctl = read_ctl,
        read_shape = read_shape, groups_max = GROUPS_MAX, interfaces_max = INTERFACES_MAX }
    leat.carry(ring, { ethertype = 0x88b6 })
end

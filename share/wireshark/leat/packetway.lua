-- PacketWay messages with the records of RRP and ERR. Carried by UDP port 4254 and capture link
-- type USER3 behind a 16-bit count of 8-octet words; on Ethernet behind type 0x88B7, OUI 02-00-00,
-- protocol 0x0300 and the same count.
--
--     0..64 x (L2RH | symbol)   PH 16   OH fields (h=1)   DB 8*DL   OT   TAIL 8
--
-- Reads as a strict destination does (specs: packetway, 2.2), which fixes what error is found
-- first. The first error ends the reading of a message.

return function(leat)
    local records = leat.load("packetway_records")
    local class_of, add_address = records.class_of, records.add_address

    local WORD, PH_LEN, TAIL_LEN = 8, 16, 8
    local LIMIT = 64 -- of leading records, of OH and of self-defined OT fields
    local EMBEDDED_MAX = 4
    local PT_RRP, PT_EMBEDDED, PT_MEM_READ, PT_MEM_WRITE, PT_ERR = 1, 2, 3, 4, 65535
    local TE_GENERAL = 74
    local CRC32_HERE, CRC32_OT, CRC64_HERE, CRC64_OT, OT_PRESENT = 2, 3, 4, 5, 6
    local ADDRESS_MAX = 0x7ffffd
    local OUI, PROTOCOL = 0x020000, 0x0300

    local packet_types = {
        [1] = "RRP", [2] = "EMBEDDED", [3] = "MEM-READ", [4] = "MEM-WRITE", [21] = "IP",
        [22] = "SNMP", [23] = "ATM", [50] = "ETHERNET-10", [51] = "ETHERNET-100",
        [52] = "ETHERNET-1000", [53] = "MYRINET", [54] = "FIBRE-CHANNEL", [55] = "RACEWAY",
        [56] = "SCI", [57] = "VME", [81] = "MPI", [82] = "PVM", [121] = "SECURE-1",
        [122] = "SECURE-2", [123] = "SECURE-3", [65535] = "ERR",
    }
    local rrp_types = {
        [21] = "GVL2", [22] = "L2SR", [23] = "RDRC", [24] = "TELL", [25] = "INFO", [26] = "HRTO",
        [27] = "WRU?", [28] = "GVRT", [29] = "RTBL",
    }
    local err_types = { [71] = "UNK", [72] = "HRDOWN", [73] = "LINKDOWN", [74] = "GENERAL" }
    local option_types = {
        [2] = "CRC32-HERE", [3] = "CRC32-OT", [4] = "CRC64-HERE", [5] = "CRC64-OT",
        [6] = "SELF-DEFINED-OT", [0x3e] = "CRYPTOGRAPHIC",
    }
    local option_lens = { [2] = 4, [3] = 0, [4] = 8, [5] = 0, [6] = 0 }
    local sizes = {
        [0] = "8 bits", [1] = "16 bits", [2] = "32 bits", [3] = "64 bits", [4] = "128 bits",
    }
    local symbol_types = { [1] = "MULTICAST", [2] = "SCID" }

    local fields = {
        { "oui", "u24", hex = true },
        { "protocol", "u16", hex = true },
        { "words", "u16" },
        { "padding", "octets" },
        { "pad", "octets" },
        -- leading records
        { "leading", "group" },
        { "leading version", "u8", label = "version", mask = 0xc0, filter = "leading.version" },
        { "leading zero", "u8", label = "zero", mask = 0x3f, filter = "leading.zero" },
        { "L2RH length", "u8", label = "length", mask = 0x3f, filter = "leading.length" },
        { "symbol type", "u24", label = "type", mask = 0x0fffff, names = symbol_types,
          filter = "leading.type" },
        { "symbol length", "u8", label = "length", filter = "leading.length" },
        { "leading octets", "octets", label = "octets", filter = "leading.octets" },
        -- header
        { "header", "group" },
        { "version", "u8", mask = 0xc0 },
        { "priority", "u8", mask = 0x3f },
        { "dt", "u24", hex = true },
        { "te", "u16" },
        { "te of RRP", "u16", label = "te", names = rrp_types, filter = "te" },
        { "te of ERR", "u16", label = "te", names = err_types, filter = "te" },
        { "pt", "u16", names = packet_types },
        { "e", "u8", mask = 0xf0, hex = true },
        { "little", "bool", mask = 0x80, filter = "e.little" },
        { "size", "u8", mask = 0x70, names = sizes, filter = "e.size" },
        { "pl", "u8", mask = 0x0e },
        { "dl", "u32", mask = 0x01ffffff },
        { "h", "u8", mask = 0x80 },
        { "rz", "u8", mask = 0x7f, hex = true },
        { "sa", "u24", hex = true },
        -- data and trailer
        { "data", "octets" },
        { "replyAddress", "u64", hex = true, filter = "mem.reply_address" },
        { "sourceAddress", "u64", hex = true, filter = "mem.source_address" },
        { "count", "u64", filter = "mem.count" },
        { "memoryAddress", "u64", hex = true, filter = "mem.address" },
        { "quote", "octets" },
        { "crc32", "u32", hex = true, crc = true },
        { "crc64", "u64", hex = true, crc = true },
        { "ei", "u64", hex = true },
    }
    -- Optional fields before the data (oh) and after them (ot) look alike.
    for list, types in pairs { oh = option_types, ot = {} } do
        for _, field in ipairs {
            { list, "group" },
            { "mandatory", "bool", mask = 0x80 },
            { "last", "bool", mask = 0x40 },
            { "type", "u8", mask = 0x3f, names = types },
            { "length", "u8" },
            { "octets", "octets" },
        } do
            if field[1] ~= list then
                field.label, field.filter = field[1], list .. "." .. field[1]
                field[1] = list .. " " .. field[1]
            end
            fields[#fields + 1] = field
        end
    end
    for _, field in ipairs(records.fields) do
        fields[#fields + 1] = field
    end
    local pktway = leat.protocol("leat_packetway", "PacketWay (leat)", "leat PktWay", fields)
    local f = pktway.f

    -- A reading in progress: m.tvb, m.tree; m:fail reports the first error and always returns nil.
    local reading = {}
    reading.__index = reading
    function reading:fail(item, code)
        if not self.failed then leat.fail(pktway, item, code) end
        self.failed = true
    end

    local function add_pad(tree, tvb, at, stop)
        if at < stop then tree:add(f.pad, tvb(at, stop - at)) end
    end

    -- ---------------------------------------------------------------- leading records

    -- `as`, if given, is the one error of a route that must hold L2RHs.
    local function add_l2rh(m, tree, at, stop, as)
        local tvb = m.tvb
        local len = tvb(at + 1, 1):uint() % 64
        local next_at = at + WORD * math.floor((len + 9) / 8)
        local item = tree:add(f.leading, tvb(at, math.min(next_at, stop) - at))
        item:set_text("L2RH")
        item:add(f["leading version"], tvb(at, 1))
        item:add(f["leading zero"], tvb(at, 1))
        item:add(f["L2RH length"], tvb(at + 1, 1))
        if tvb(at, 1):uint() ~= 0 then return m:fail(item, as or "E_RSV") end
        if len == 0 then return m:fail(item, as or "E_L2RH_LEN") end
        if next_at > stop then return m:fail(item, as or "E_SHORT") end
        item:add(f["leading octets"], tvb(at + 2, len))
        item:append_text(" " .. tvb(at + 2, len):bytes():tohex(true))
        add_pad(item, tvb, at + 2 + len, next_at)
        return next_at, item
    end

    local function add_symbol(m, tree, at, stop)
        local tvb = m.tvb
        local len = tvb(at + 4, 1):uint()
        local next_at = at + WORD * math.floor((len + 12) / 8)
        local item = tree:add(f.leading, tvb(at, math.min(next_at, stop) - at))
        item:set_text("SYMBOL")
        item:add(f["leading version"], tvb(at, 1))
        item:add(f["leading zero"], tvb(at, 1))
        item:add(f["symbol type"], tvb(at + 1, 3))
        item:add(f["symbol length"], tvb(at + 4, 1))
        if tvb(at, 1):uint() ~= 0 then return m:fail(item, "E_RSV") end
        if tvb(at + 1, 3):uint() == 0xf00000 then return m:fail(item, "E_SYM_TYPE") end
        if next_at > stop then return m:fail(item, "E_SHORT") end
        if len > 0 then item:add(f["leading octets"], tvb(at + 5, len)) end
        add_pad(item, tvb, at + 5 + len, next_at)
        return next_at, item
    end

    -- Returns where the PH is.
    local function add_leading(m)
        local tvb, len, at, count = m.tvb, m.tvb:len(), 0, 0
        while true do
            if len - at < PH_LEN + TAIL_LEN then return m:fail(m.tree, "E_SHORT") end
            if tvb(at, 1):uint() >= 64 then
                return m:fail(m.tree:add(f.version, tvb(at, 1)), "E_VERSION")
            end
            local class, item = class_of(tvb(at + 1, 3):uint()), nil
            if class == "L2RH" then
                at, item = add_l2rh(m, m.tree, at, len)
            elseif class == "symbol" then
                at, item = add_symbol(m, m.tree, at, len)
            else
                return at
            end
            if not at then return end
            count = count + 1
            if count > LIMIT then return m:fail(item, "E_TOO_MANY") end
        end
    end

    -- ---------------------------------------------------------------- header

    local function te_field(pt)
        return pt == PT_RRP and f["te of RRP"] or pt == PT_ERR and f["te of ERR"] or f.te
    end

    -- The 16 octets of a PH; returns what they say and their items.
    local function add_ph_fields(tree, tvb, at)
        local ph = {
            dt = tvb(at + 1, 3):uint(), te = tvb(at + 4, 2):uint(), pt = tvb(at + 6, 2):uint(),
            little = tvb(at + 8, 1):bitfield(0, 1), size = tvb(at + 8, 1):bitfield(1, 3),
            pl = tvb(at + 8, 1):bitfield(4, 3), dl = tvb(at + 8, 4):uint() % 2 ^ 25,
            h = tvb(at + 12, 1):bitfield(0, 1), rz = tvb(at + 12, 1):uint() % 128,
            sa = tvb(at + 13, 3):uint(), items = {},
        }
        local item = tree:add(f.header, tvb(at, PH_LEN))
        local items = ph.items
        item:add(f.version, tvb(at, 1))
        item:add(f.priority, tvb(at, 1))
        items.dt = add_address(item, f.dt, tvb(at + 1, 3))
        items.te = item:add(te_field(ph.pt), tvb(at + 4, 2))
        items.pt = item:add(f.pt, tvb(at + 6, 2))
        items.e = item:add(f.e, tvb(at + 8, 1))
        items.e:add(f.little, tvb(at + 8, 1))
        items.e:add(f.size, tvb(at + 8, 1))
        items.pl = item:add(f.pl, tvb(at + 8, 1))
        items.dl = item:add(f.dl, tvb(at + 8, 4))
        item:add(f.h, tvb(at + 12, 1))
        items.rz = item:add(f.rz, tvb(at + 12, 1))
        items.sa = add_address(item, f.sa, tvb(at + 13, 3))
        return ph
    end

    local function te_name(ph)
        if ph.pt == PT_RRP then return rrp_types[ph.te] end
        if ph.pt == PT_ERR then return err_types[ph.te] end
    end

    local function summary(ph)
        local name = packet_types[ph.pt] or "PT " .. ph.pt
        if te_name(ph) then name = name .. "/" .. te_name(ph) end
        return string.format("%s 0x%06x to 0x%06x, %d octets", name, ph.sa, ph.dt,
            math.max(0, 8 * ph.dl - ph.pl))
    end

    local function add_ph(m, at)
        local ph = add_ph_fields(m.tree, m.tvb, at)
        local items = ph.items
        if class_of(ph.dt) == "reserved" then return m:fail(items.dt, "E_DT_RESERVED") end
        if ph.dt == 0 then return m:fail(items.dt, "E_ADDR") end
        if ph.pt == 0 then return m:fail(items.pt, "E_PT") end
        if ph.size > 4 then return m:fail(items.e, "E_ENDIAN") end
        if ph.dl == 0 and ph.pl > 0 then return m:fail(items.pl, "E_PAD") end
        if ph.rz ~= 0 then return m:fail(items.rz, "E_RSV") end
        if ph.sa > ADDRESS_MAX then return m:fail(items.sa, "E_SA") end
        return ph
    end

    -- ---------------------------------------------------------------- optional fields

    local function check_lens(m, options)
        for _, option in ipairs(options) do
            if option_lens[option.t] and option.len ~= option_lens[option.t] then
                return m:fail(option.item, "E_OH_LEN")
            end
        end
        return true
    end

    -- A list ("oh" or "ot") of fields ended by C=1, which may fill the octets up to `stop`. Returns
    -- where it ends and the fields.
    local function add_options(m, at, stop, list, unended)
        local tvb, options = m.tvb, {}
        while true do
            if at >= stop then return m:fail(m.tree, unended) end
            local head, len = tvb(at, 1), tvb(at + 1, 1):uint()
            local next_at = at + WORD * math.floor((len + 9) / 8)
            local item = m.tree:add(f[list], tvb(at, math.min(next_at, stop) - at))
            for _, name in ipairs { " mandatory", " last", " type" } do
                item:add(f[list .. name], head)
            end
            item:add(f[list .. " length"], tvb(at + 1, 1))
            local option = { at = at, item = item, t = head:uint() % 64, len = len,
                             mandatory = head:bitfield(0, 1) == 1 }
            if option.t == 0 then return m:fail(item, "E_OH_TYPE") end
            if next_at > stop then return m:fail(item, "E_SHORT") end
            if #options == LIMIT then return m:fail(item, "E_TOO_MANY") end
            if len > 0 then item:add(f[list .. " octets"], tvb(at + 2, len)) end
            add_pad(item, tvb, at + 2 + len, next_at)
            options[#options + 1] = option
            at = next_at
            if head:bitfield(1, 1) == 1 then return check_lens(m, options) and at, options end
        end
    end

    -- Entries announced by OH fields, then self-defined fields. Returns where OT ends and those
    -- fields; notes the place of each CRC in its option.
    local function add_ot(m, at, stop, options)
        local self_defined = false
        for _, option in ipairs(options) do
            if option.t == CRC32_OT or option.t == CRC64_OT then
                if at + WORD > stop then return m:fail(m.tree, "E_OT_LEN") end
                option.value_at = at
                option.holder = m.tree:add(f.ot, m.tvb(at, WORD))
                at = at + WORD
            elseif option.t == CRC32_HERE or option.t == CRC64_HERE then
                option.value_at, option.holder = option.at + 2, option.item
            elseif option.t == OT_PRESENT then
                self_defined = true
            end
        end
        if self_defined then return add_options(m, at, stop, "ot", "E_OT_LEN") end
        return at, {}
    end

    -- What the CRCs cover: PH, OH and DB, every "here" value taken as zero.
    local function covered(m, ph_at, db_end, options)
        local octets = m.tvb:raw(ph_at, db_end - ph_at)
        for _, option in ipairs(options) do
            if option.t == CRC32_HERE or option.t == CRC64_HERE then
                local at = option.value_at - ph_at
                octets = octets:sub(1, at) .. ("\0"):rep(option.len)
                    .. octets:sub(at + option.len + 1)
            end
        end
        return octets
    end

    local function check_crc(m, option, octets)
        local label, range, right
        if option.t == CRC32_HERE or option.t == CRC32_OT then
            label, range = "crc32", m.tvb(option.value_at, 4)
            right = string.format("%08x", leat.crc32(octets))
        elseif option.t == CRC64_HERE or option.t == CRC64_OT then
            label, range = "crc64", m.tvb(option.value_at, 8)
            right = string.format("%08x%08x", leat.crc64(octets))
        else
            return
        end
        local good = range:bytes():tohex(true) == right
        local item = option.holder:add(f[label], range)
        leat.checksum_status(pktway, option.holder, item, label, range, good, "0x" .. right)
        if not good then m:fail(item, "E_CRC") end
    end

    -- What only the destination verifies: CRCs, and that it knows what it must know. No
    -- self-defined field is known here.
    local function check_options(m, ph_at, db_end, options, self_defined)
        local octets = #options > 0 and covered(m, ph_at, db_end, options)
        for _, option in ipairs(options) do
            check_crc(m, option, octets)
        end
        if m.failed then return end
        for _, option in ipairs(options) do
            if option.mandatory and not option_lens[option.t] then
                return m:fail(option.item, "E_OH_MANDATORY")
            end
        end
        for _, option in ipairs(self_defined) do
            if option.mandatory then return m:fail(option.item, "E_OH_MANDATORY") end
        end
        return true
    end

    -- ---------------------------------------------------------------- message

    -- A quote may be cut short: its header is shown, the rest as octets.
    local function add_quote(m, tree, at, stop)
        if stop - at < PH_LEN then return m:fail(tree, "E_MSG") end
        local item = tree:add(f.quote, m.tvb(at, stop - at))
        local ph = add_ph_fields(item, m.tvb, at)
        item:append_text(": " .. summary(ph))
    end

    local add_records = records.reader(pktway, add_l2rh, add_pad)

    local function add_rrp(m, ph, tree, at, stop)
        local name, items = te_name(ph), ph.items
        if not name then return m:fail(items.te, "E_TE") end
        if ph.little == 1 then return m:fail(items.e, "E_ENDIAN") end
        if ph.pl ~= 0 then return m:fail(items.pl, "E_PAD") end
        if ph.pt == PT_ERR and ph.te == TE_GENERAL then return add_quote(m, tree, at, stop) end
        local list = add_records(m, tree, at, stop)
        if list then records.check_message(m, ph.pt, ph.te, list, tree) end
    end

    -- Other lengths are data alone.
    local function add_memory(ph, tree, tvb, at)
        local len = WORD * ph.dl - ph.pl
        if ph.pt == PT_MEM_WRITE and len >= WORD then
            tree:add(f.memoryAddress, tvb(at, 8))
        elseif ph.pt == PT_MEM_READ and len == 3 * WORD then
            tree:add(f.replyAddress, tvb(at, 8))
            tree:add(f.sourceAddress, tvb(at + 8, 8))
            tree:add(f.count, tvb(at + 16, 8))
        end
    end

    -- OH, DB, OT and TAIL. Returns where DB begins and ends and its tree item.
    local function add_body(m, ph, ph_at)
        local at, tail_at, options = ph_at + PH_LEN, m.tvb:len() - TAIL_LEN, {}
        if ph.h == 1 then
            at, options = add_options(m, at, tail_at, "oh", "E_OH_UNTERM")
            if not at then return end
        end
        local db_at, db_end = at, at + WORD * ph.dl
        if db_end > tail_at then return m:fail(ph.items.dl, "E_SHORT") end
        local db = ph.dl > 0 and m.tree:add(f.data, m.tvb(db_at, db_end - db_at)) or m.tree
        local ot_end, self_defined = add_ot(m, db_end, tail_at, options)
        if not ot_end then return end
        if ot_end < tail_at then return m:fail(m.tree, "E_TRAILING") end
        m.tree:add(f.ei, m.tvb(tail_at, TAIL_LEN))
        if not check_options(m, ph_at, db_end, options, self_defined) then return end
        return db_at, db_end, db
    end

    -- One message that fills tvb; `depth` counts the messages it is embedded in.
    local function add_message(tvb, tree, depth)
        local m = setmetatable({ tvb = tvb, tree = tree }, reading)
        if tvb:len() % WORD ~= 0 then return m:fail(tree, "E_ALIGN") end
        local ph_at = add_leading(m)
        local ph = ph_at and add_ph(m, ph_at)
        if not ph then return end
        if depth == 0 then leat.info(summary(ph)) end
        local db_at, db_end, db = add_body(m, ph, ph_at)
        if not db_at then return end
        if ph.pt == PT_RRP or ph.pt == PT_ERR then
            add_rrp(m, ph, db, db_at, db_end)
        elseif ph.pt == PT_EMBEDDED and ph.dl > 0 and depth < EMBEDDED_MAX then
            add_message(tvb(db_at, db_end - db_at):tvb(), db, depth + 1)
        else
            add_memory(ph, db, tvb, db_at)
        end
    end

    -- The count of words, the message, and what a frame needs to be long enough.
    local function add_counted(tvb, at, tree)
        if tvb:len() < at + 2 then return leat.fail(pktway, tree, "SHORT") end
        local words = tree:add(f.words, tvb(at, 2))
        local len = WORD * tvb(at, 2):uint()
        at = at + 2
        if tvb:len() < at + len then return leat.fail(pktway, words, "SHORT") end
        if len == 0 then return leat.fail(pktway, words, "E_SHORT") end
        add_message(tvb(at, len):tvb(), tree, 0)
        if tvb:len() > at + len then tree:add(f.padding, tvb(at + len)) end
    end

    function pktway.proto.dissector(tvb, pinfo, root)
        add_counted(tvb, 0, leat.begin(pktway, tvb, pinfo, root))
    end

    -- Other users of Ethernet's OUI-extended type keep their dissector.
    local ether_types = DissectorTable.get("ethertype")
    local others = ether_types:get_dissector(0x88b7)
    local ethernet = Proto("leat_packetway_eth", "PacketWay on Ethernet (leat)")
    function ethernet.dissector(tvb, pinfo, root)
        if tvb:len() < 5 or tvb(0, 3):uint() ~= OUI or tvb(3, 2):uint() ~= PROTOCOL then
            if others then return others:call(tvb, pinfo, root) end
            return 0
        end
        local tree = leat.begin(pktway, tvb, pinfo, root)
        tree:add(f.oui, tvb(0, 3))
        tree:add(f.protocol, tvb(3, 2))
        add_counted(tvb, 5, tree)
    end

    leat.carry(pktway.proto, { wtap_encap = wtap.USER3, ["udp.port"] = 4254 })
    leat.carry(ethernet, { ethertype = 0x88b7 })
end

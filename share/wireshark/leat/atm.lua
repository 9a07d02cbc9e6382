-- ATM cells, one per frame of capture link type USER0, at the UNI or (by preference) the NNI.
--
--     gfc 4 | vpi 8 | vci 16 | pt 3 | clp 1 | hec 8 | payload 48 octets     NNI: vpi 12, no gfc
--
-- pt identifies OAM and RM payloads. No field of a cell says which adaptation layer its payload
-- has: preferences do, for all channels or one by one. A cell of the thesis' prototype has no HEC:
-- zeros behind its VPI identify it, and its CRC-16 if zero is a valid HEC.

return function(leat)
    local aal = leat.load("atm_aal")
    local CELL_LEN, HEADER_LEN, SEAL_AT = 53, 5, 46
    local PT_RM, RM_ABR = 6, 1

    local interfaces = { [0] = "UNI", [1] = "NNI" }
    local payload_types = {
        [0] = "user-0", [1] = "user-1", [2] = "user-efci-0", [3] = "user-efci-1",
        [4] = "oam-segment", [5] = "oam-end", [6] = "rm", [7] = "reserved",
    }
    local oam_types = { [1] = "fault", [2] = "performance", [8] = "activation", [15] = "system" }
    local fault_functions = { [0] = "AIS", [1] = "RDI", [4] = "continuity", [8] = "loopback" }
    local performance_functions = { [0] = "forward-monitoring", [1] = "backward-reporting" }

    local atm = leat.protocol("leat_atm", "ATM Cell (leat)", "leat ATM", {
        { "interface", "u8", names = interfaces },
        { "gfc", "u8", mask = 0xf0 },
        { "vpi", "u16", mask = 0x0ff0 },
        { "vpi NNI", "u16", label = "vpi", mask = 0xfff0, filter = "vpi" },
        { "vci", "u24", mask = 0x0ffff0 },
        { "pt", "u8", mask = 0x0e, names = payload_types },
        { "clp", "u8", mask = 0x01 },
        { "hec", "u8", hex = true, crc = true },
        { "kind", "text" },
        { "payload", "octets" },
        { "oam", "group" },
        { "type", "u8", mask = 0xf0, names = oam_types, filter = "oam.type" },
        { "function", "u8", mask = 0x0f, filter = "oam.function" },
        { "fault function", "u8", label = "function", mask = 0x0f, names = fault_functions,
          filter = "oam.function" },
        { "performance function", "u8", label = "function", mask = 0x0f,
          names = performance_functions, filter = "oam.function" },
        { "specific", "octets", filter = "oam.specific" },
        { "rm", "group" },
        { "ID", "u8", filter = "rm.id" },
        { "DIR", "bool", mask = 0x80, filter = "rm.dir" },
        { "BN", "bool", mask = 0x40, filter = "rm.bn" },
        { "CI", "bool", mask = 0x20, filter = "rm.ci" },
        { "NI", "bool", mask = 0x10, filter = "rm.ni" },
        { "RA", "bool", mask = 0x08, filter = "rm.ra" },
        { "ER", "u16", mask = 0x7fff, hex = true, filter = "rm.er" },
        { "CCR", "u16", mask = 0x7fff, hex = true, filter = "rm.ccr" },
        { "MCR", "u16", mask = 0x7fff, hex = true, filter = "rm.mcr" },
        { "ERrate", "u32", filter = "rm.er_rate" },
        { "CCRrate", "u32", filter = "rm.ccr_rate" },
        { "MCRrate", "u32", filter = "rm.mcr_rate" },
        { "QL", "u32", filter = "rm.ql" },
        { "SN", "u32", filter = "rm.sn" },
        { "crc", "u16", mask = 0x03ff, hex = true, crc = true },
    })
    local f = atm.f

    -- ---------------------------------------------------------------- preferences

    local prefs = atm.proto.prefs
    prefs.nni = Pref.bool("Cells of the NNI", false, "The VPI has 12 bits and there is no GFC")
    prefs.aal = Pref.string("Adaptation layer", "none",
        "Of user cells: none, aal1, aal2, aal34, aal5; or channel by channel, as in "
        .. "'0/32=aal5, 0/33=aal1, none'; atmtask: every cell is a prototype's")

    local preference_expert = ProtoExpert.new("leat_atm.preference", "Preference not understood",
        expert.group.PROTOCOL, expert.severity.WARN)
    atm.proto.experts = { preference_expert }

    local channels, bad_preference = {}, nil

    -- Items are AAL or VPI/VCI=AAL, between blanks or commas.
    function atm.proto.prefs_changed()
        channels, bad_preference = {}, nil
        for item in prefs.aal:gmatch("[^%s,]+") do
            local channel, name = item:match("^(%d+/%d+)=(%w+)$")
            name = (name or item):lower()
            if name == "none" or aal.add[name] and (name ~= "atmtask" or not channel) then
                channels[channel or "default"] = name
            else
                bad_preference = item
            end
        end
    end

    local function layer_of(vpi, vci)
        return channels[vpi .. "/" .. vci] or channels.default or "none"
    end

    -- ---------------------------------------------------------------- header

    -- Which bit is wrong, if a single one is: by the difference between right and received HEC.
    local bit_of_syndrome = {}
    for bit = 0, 31 do
        local before = math.floor(bit / 8)
        local octet = string.char(2 ^ (7 - bit % 8))
        local header = ("\0"):rep(before) .. octet .. ("\0"):rep(3 - before)
        bit_of_syndrome[leat.bit.bxor(leat.hec(header), leat.hec("\0\0\0\0"))] = bit
    end
    for bit = 32, 39 do
        bit_of_syndrome[2 ^ (39 - bit)] = bit
    end

    local function add_hec(tree, tvb)
        local right = leat.hec(tvb:raw(0, 4))
        local wrong_bit = bit_of_syndrome[leat.bit.bxor(right, tvb(4, 1):uint())]
        local note = string.format("0x%02x", right)
        if wrong_bit then note = note .. " or bit " .. wrong_bit .. " of the header is wrong" end
        local good = tvb(4, 1):uint() == right
        local item = tree:add(f.hec, tvb(4, 1))
        leat.checksum_status(atm, tree, item, "hec", tvb(4, 1), good, note)
        if not good then leat.fail(atm, tree, "CHECKSUM", "hec") end
        return good
    end

    local function kind_of(header)
        if header == "\0\0\0\1\82" then return "idle" end
        return header == "\0\0\0\0\85" and "unassigned" or "assigned"
    end

    local function read_header(tvb)
        return {
            vpi = tvb(0, 2):bitfield(prefs.nni and 0 or 4, prefs.nni and 12 or 8),
            vci = tvb(1, 3):bitfield(4, 16), pt = tvb(3, 1):bitfield(4, 3),
            kind = kind_of(tvb:raw(0, HEADER_LEN)),
        }
    end

    -- Returns whether the HEC is right.
    local function add_header(tree, tvb, header)
        tree:add(f.interface, tvb(0, 0), prefs.nni and 1 or 0):set_generated()
        if not prefs.nni then tree:add(f.gfc, tvb(0, 1)) end
        tree:add(prefs.nni and f["vpi NNI"] or f.vpi, tvb(0, 2))
        tree:add(f.vci, tvb(1, 3))
        tree:add(f.pt, tvb(3, 1))
        tree:add(f.clp, tvb(3, 1))
        local good = add_hec(tree, tvb)
        tree:add(f.kind, tvb(0, HEADER_LEN), header.kind):set_generated()
        return good
    end

    -- ---------------------------------------------------------------- OAM and RM

    local function add_seal(tree, payload)
        return leat.checksum(atm, tree, "crc", payload(SEAL_AT, 2), 10,
            leat.crc10_of_pdu(payload:raw()))
    end

    local function add_oam(tree, payload)
        local item = tree:add(f.oam, payload)
        item:set_text("oam")
        local kind = payload(0, 1):bitfield(0, 4)
        item:add(f.type, payload(0, 1))
        item:add(kind == 1 and f["fault function"] or kind == 2 and f["performance function"]
            or f["function"], payload(0, 1))
        item:add(f.specific, payload(1, 45))
        add_seal(item, payload)
    end

    -- Cells per second: nz * 2^e * (1 + m/512).
    local function rate_of(range)
        if range:bitfield(1, 1) == 0 then return 0 end
        return math.floor(2 ^ range:bitfield(2, 5) * (1 + range:bitfield(7, 9) / 512))
    end

    local function add_rm(tree, payload)
        if payload(0, 1):uint() ~= RM_ABR then return add_seal(tree, payload) end -- not ABR's
        local item = tree:add(f.rm, payload)
        item:set_text("rm")
        item:add(f.ID, payload(0, 1))
        for _, flag in ipairs { "DIR", "BN", "CI", "NI", "RA" } do
            item:add(f[flag], payload(1, 1))
        end
        for i, name in ipairs { "ER", "CCR", "MCR" } do
            local range = payload(2 * i, 2)
            item:add(f[name], range)
            item:add(f[name .. "rate"], range, rate_of(range)):set_generated()
        end
        item:add(f.QL, payload(8, 4))
        item:add(f.SN, payload(12, 4))
        add_seal(item, payload)
    end

    -- ---------------------------------------------------------------- cells

    -- Flow F5 by PT; F4 by VCI, if the CRC-10 holds.
    local function is_oam(header, payload)
        if header.pt == 4 or header.pt == 5 then return true end
        if header.vci ~= 3 and header.vci ~= 4 or header.pt ~= 0 and header.pt ~= 2 then
            return false
        end
        return leat.crc10_of_pdu(payload:raw()) == payload(SEAL_AT, 2):uint() % 1024
    end

    local function is_prototype(tvb)
        if channels.default == "atmtask" then return true end
        if tvb(1, 4):uint() % 0x10000000 ~= 0 then return false end
        return leat.hec(tvb:raw(0, 4)) ~= 0 or leat.crc16(tvb:raw(5, 46)) == tvb(51, 2):uint()
    end

    local function is_user(header)
        return header.pt < 4 and header.kind == "assigned"
    end

    -- `good`: the header can be believed. Adaptation layers get a Tvb of their own.
    local function add_payload(tree, tvb, pinfo, root, header, good)
        local payload = tvb(HEADER_LEN)
        tree:add(f.payload, payload)
        if not good then return end
        if is_oam(header, payload) then
            add_oam(tree, payload)
        elseif header.pt == PT_RM then
            add_rm(tree, payload)
        else
            local layer = is_user(header) and layer_of(header.vpi, header.vci)
            if layer and layer ~= "atmtask" and aal.add[layer] then
                aal.add[layer](payload:tvb(), pinfo, root, header)
            end
        end
    end

    function atm.proto.dissector(tvb, pinfo, root)
        local len = tvb:len()
        if len == CELL_LEN and is_prototype(tvb) then return aal.add.atmtask(tvb, pinfo, root) end
        local tree = leat.begin(atm, tvb, pinfo, root)
        if len < CELL_LEN then return leat.fail(atm, tree, "SHORT") end
        local header = read_header(tvb)
        leat.info(string.format("%d/%d %s%s", header.vpi, header.vci, payload_types[header.pt],
            header.kind == "assigned" and "" or ", " .. header.kind))
        if len > CELL_LEN then return leat.fail(atm, tree, "LENGTH") end
        local good = add_header(tree, tvb, header)
        add_payload(tree, tvb, pinfo, root, header, good)
        if bad_preference then
            tree:add_proto_expert_info(preference_expert, "preference leat_atm.aal: '"
                .. bad_preference .. "' is neither AAL nor VPI/VCI=AAL")
        end
    end

    leat.carry(atm.proto, { wtap_encap = wtap.USER0 })
end

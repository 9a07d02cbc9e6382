-- The adaptation layers that fill the payloads of ATM cells (48 octets each), and the cell of the
-- thesis' prototype. aal.add[name](tvb, pinfo, root, header) shows one payload; `header` has the
-- vpi, vci and pt of its cell. AAL5 packets are reassembled per channel.

return function(leat)
    local aal = { add = {} }
    local PDU_LEN, TRAILER_AT = 48, 46

    local segment_types = { [0] = "COM", [1] = "EOM", [2] = "BOM", [3] = "SSM" }

    local function channel_info(header, text, ...)
        leat.info(string.format("%d/%d " .. text, header.vpi, header.vci, ...))
    end

    -- The six bits of LI and the ten of the CRC that end AAL2 and AAL3/4. Is the CRC right?
    local function add_trailer(p, tree, tvb)
        tree:add(p.f.li, tvb(TRAILER_AT, 2))
        return leat.checksum(p, tree, "crc", tvb(TRAILER_AT, 2), 10, leat.crc10_of_pdu(tvb:raw()))
    end

    -- ---------------------------------------------------------------- AAL1

    --     csi 1 | sc 3 | crc 3 | parity 1 | [pointer 8] | payload
    local aal1 = leat.protocol("leat_aal1", "AAL1 SAR-PDU (leat)", "leat AAL1", {
        { "csi", "u8", mask = 0x80 },
        { "sc", "u8", mask = 0x70 },
        { "crc", "u8", mask = 0x0e, hex = true, crc = true },
        { "parity", "u8", mask = 0x01 },
        { "pointer", "u8" },
        { "payload", "octets" },
    })

    -- The header octet of each SN: its CRC of x^3+x+1, then even parity.
    local sn_headers = {
        [0] = 0x00, 0x17, 0x2d, 0x3a, 0x4e, 0x59, 0x63, 0x74,
        0x8b, 0x9c, 0xa6, 0xb1, 0xc5, 0xd2, 0xe8, 0xff,
    }

    function aal.add.aal1(tvb, pinfo, root, header)
        local f, octet = aal1.f, tvb(0, 1)
        local tree = leat.begin(aal1, tvb, pinfo, root)
        local sc = octet:bitfield(1, 3)
        local p_format = octet:bitfield(0, 1) == 1 and sc % 2 == 0
        local right = sn_headers[octet:bitfield(0, 4)]
        local good = octet:uint() == right
        channel_info(header, "AAL1 sc %d", sc)
        tree:add(f.csi, octet)
        tree:add(f.sc, octet)
        local crc = tree:add(f.crc, octet)
        leat.checksum_status(aal1, tree, crc, "crc", octet, good,
            string.format("octet 0x%02x", right))
        tree:add(f.parity, octet)
        if not good then leat.fail(aal1, tree, "CHECKSUM", "crc or parity") end
        if not p_format then
            tree:add(f.payload, tvb(1))
            return
        end
        local pointer = tvb(1, 1):uint()
        local item = tree:add(f.pointer, tvb(1, 1))
        item:append_text(pointer == 127 and " (no block starts here)" or "")
        tree:add(f.payload, tvb(2))
        if good and pointer > 127 then
            leat.fail(aal1, item, "RESERVED")
        elseif good and pointer > 93 and pointer ~= 127 then
            leat.fail(aal1, item, "RANGE")
        end
    end

    -- ---------------------------------------------------------------- AAL2, older form

    --     sn 4 | it 4 | payload, li of 45 octets | li 6 | crc 10
    local aal2 = leat.protocol("leat_aal2", "AAL2 SAR-PDU, older form (leat)", "leat AAL2", {
        { "sn", "u8", mask = 0xf0 },
        { "it", "u8", mask = 0x0f, names = segment_types },
        { "payload", "octets" },
        { "unused", "octets" },
        { "li", "u16", mask = 0xfc00 },
        { "crc", "u16", mask = 0x03ff, hex = true, crc = true },
    })

    function aal.add.aal2(tvb, pinfo, root, header)
        local f = aal2.f
        local tree = leat.begin(aal2, tvb, pinfo, root)
        local it, li = tvb(0, 1):bitfield(4, 4), tvb(TRAILER_AT, 1):bitfield(0, 6)
        channel_info(header, "AAL2 %s sn %d", segment_types[it] or it, tvb(0, 1):bitfield(0, 4))
        tree:add(f.sn, tvb(0, 1))
        local it_item = tree:add(f.it, tvb(0, 1))
        local used = math.min(li, 45)
        if used > 0 then tree:add(f.payload, tvb(1, used)) end
        if used < 45 then tree:add(f.unused, tvb(1 + used, 45 - used)) end
        if not add_trailer(aal2, tree, tvb) then return end
        if it > 3 then
            leat.fail(aal2, it_item, "RESERVED")
        elseif li < 1 or li > 45 then
            leat.fail(aal2, tree, "LENGTH", "li")
        end
    end

    -- ---------------------------------------------------------------- AAL3/4

    --     st 2 | sn 4 | p 1 | mid 9 | payload, li of 44 octets | li 6 | crc 10
    --     first octets of BOM and SSM: cpi, btag, baSize; last of EOM and SSM: al, etag, length
    local aal34 = leat.protocol("leat_aal34", "AAL3/4 SAR-PDU (leat)", "leat AAL3/4", {
        { "st", "u16", mask = 0xc000, names = segment_types },
        { "sn", "u16", mask = 0x3c00 },
        { "p", "u16", mask = 0x0200 },
        { "mid", "u16", mask = 0x01ff },
        { "payload", "octets" },
        { "unused", "octets" },
        { "cpi", "u8", filter = "cpcs.cpi" },
        { "btag", "u8", filter = "cpcs.btag" },
        { "baSize", "u16", filter = "cpcs.ba_size" },
        { "al", "u8", filter = "cpcs.al" },
        { "etag", "u8", filter = "cpcs.etag" },
        { "length", "u16", filter = "cpcs.length" },
        { "li", "u16", mask = 0xfc00 },
        { "crc", "u16", mask = 0x03ff, hex = true, crc = true },
    })
    local COM, EOM, BOM, SSM, LI_ABORT = 0, 1, 2, 3, 63

    local function li_suits(st, li)
        if st == BOM or st == COM then return li == 44 end
        return st == EOM and li == LI_ABORT or li >= (st == SSM and 8 or 4) and li <= 44
    end

    -- What of the CPCS-PDU's own header and trailer this segment holds.
    local function add_cpcs(item, payload, st, used)
        local f = aal34.f
        if (st == BOM or st == SSM) and used >= 4 then
            item:add(f.cpi, payload(0, 1))
            item:add(f.btag, payload(1, 1))
            item:add(f.baSize, payload(2, 2))
        end
        if (st == EOM or st == SSM) and used >= 4 then
            item:add(f.al, payload(used - 4, 1))
            item:add(f.etag, payload(used - 3, 1))
            item:add(f.length, payload(used - 2, 2))
        end
    end

    function aal.add.aal34(tvb, pinfo, root, header)
        local f = aal34.f
        local tree = leat.begin(aal34, tvb, pinfo, root)
        local head = tvb(0, 2)
        local st, li = head:bitfield(0, 2), tvb(TRAILER_AT, 1):bitfield(0, 6)
        channel_info(header, "AAL3/4 %s sn %d mid %d%s", segment_types[st], head:bitfield(2, 4),
            head:bitfield(7, 9), st == EOM and li == LI_ABORT and " abort" or "")
        for _, name in ipairs { "st", "sn", "p", "mid" } do
            tree:add(f[name], head)
        end
        local used = li == LI_ABORT and 0 or math.min(li, 44)
        if used > 0 then add_cpcs(tree:add(f.payload, tvb(2, used)), tvb(2, used), st, used) end
        if used < 44 then tree:add(f.unused, tvb(2 + used, 44 - used)) end
        if add_trailer(aal34, tree, tvb) and not li_suits(st, li) then
            leat.fail(aal34, tree, "LENGTH", "li")
        end
    end

    -- ---------------------------------------------------------------- AAL5

    --     payload 1..65535 | pad 0..47 | uu 8 | cpi 8 | length 16 | crc 32       whole cells
    local aal5 = leat.protocol("leat_aal5", "AAL5 CPCS-PDU (leat)", "leat AAL5", {
        { "cells", "u16" },
        { "first cell", "frame" },
        { "last cell", "frame" },
        { "payload", "octets" },
        { "pad", "octets" },
        { "uu", "u8" },
        { "cpi", "u8" },
        { "length", "u16" },
        { "crc", "u32", hex = true, crc = true },
    })
    local CELLS_MAX, AAL5_TRAILER_LEN = 1366, 8

    -- A PDU collects the payloads of its cells; it is complete when it has a last_frame.
    local open_of_channel, pdu_of_frame = {}, {}
    function aal5.proto.init()
        open_of_channel, pdu_of_frame = {}, {}
    end

    local function collect(tvb, pinfo, header)
        local channel = header.vpi .. "/" .. header.vci
        local pdu = open_of_channel[channel] or { pieces = {}, first_frame = pinfo.number }
        pdu.pieces[#pdu.pieces + 1] = tvb:raw()
        pdu.overflow = #pdu.pieces > CELLS_MAX
        local last = header.pt % 2 == 1
        open_of_channel[channel] = not last and not pdu.overflow and pdu or nil
        if last then pdu.last_frame = pinfo.number end
        pdu_of_frame[pinfo.number] = { pdu = pdu, index = #pdu.pieces }
    end

    local function add_pdu(tree, pdu)
        local f = aal5.f
        local tvb = ByteArray.new(table.concat(pdu.pieces), true):tvb("AAL5 CPCS-PDU")
        local len = tvb:len()
        local at = len - AAL5_TRAILER_LEN
        local payload_len = tvb(at + 2, 2):uint()
        local cells = math.ceil((payload_len + AAL5_TRAILER_LEN) / PDU_LEN)
        local fits = payload_len >= 1 and cells * PDU_LEN == len
        local pad_at = fits and payload_len or at
        if pad_at > 0 then tree:add(f.payload, tvb(0, pad_at)) end
        if pad_at < at then tree:add(f.pad, tvb(pad_at, at - pad_at)) end
        tree:add(f.uu, tvb(at, 1))
        tree:add(f.cpi, tvb(at + 1, 1))
        local length = tree:add(f.length, tvb(at + 2, 2))
        local right = leat.crc32_msb(tvb:raw(0, len - 4))
        if leat.checksum(aal5, tree, "crc", tvb(at + 4, 4), 32, right) and not fits then
            leat.fail(aal5, length, "LENGTH")
        end
    end

    function aal.add.aal5(tvb, pinfo, root, header)
        local f = aal5.f
        local tree = leat.begin(aal5, tvb, pinfo, root)
        if not pdu_of_frame[pinfo.number] then collect(tvb, pinfo, header) end
        local place = pdu_of_frame[pinfo.number]
        local pdu = place.pdu
        if pdu.overflow and place.index > CELLS_MAX then
            channel_info(header, "AAL5 without end")
            leat.fail(aal5, tree, "LENGTH", "no last cell among " .. CELLS_MAX)
        elseif pdu.last_frame == pinfo.number then
            channel_info(header, "AAL5 PDU of %d cells", #pdu.pieces)
            tree:add(f.cells, #pdu.pieces):set_generated()
            tree:add(f["first cell"], pdu.first_frame):set_generated()
            add_pdu(tree, pdu)
        else
            channel_info(header, "AAL5 cell %d of a PDU", place.index)
            if pdu.last_frame then tree:add(f["last cell"], pdu.last_frame):set_generated() end
        end
    end

    -- ---------------------------------------------------------------- the prototype's cell

    --     vpi 12 | 0 28 | type 16 | flag 16 | sequence 16 | source 16 | destination 16 |
    --     data 36 octets, those of a message's first cell begin with its header | crc 16
    local types = { [0] = "message", [1] = "ACK", [4] = "RESYNC", [5] = "RESYNCED" }
    local stream_flags = { [0] = "broadcast", [4] = "point-to-point" }
    for group = 0, 31 do
        stream_flags[8 * (group + 1)] = "group-" .. group
    end
    local flags = {
        [0] = { [0] = "middle", [1] = "begin", [2] = "end", [3] = "single" },
        [1] = stream_flags,
        [4] = stream_flags,
        [5] = stream_flags,
    }
    local TYPES = 8 -- above the type stand bits of the number, in units that resynchronise
    local BROADCAST, EVERY_INSTANCE = 0xffff, 0xffffffff
    local task = leat.protocol("leat_atmtask", "ATM Prototype Cell (leat)", "leat ATM task", {
        { "vpi", "u16", mask = 0xfff0 },
        { "zero", "u32", mask = 0x0fffffff, hex = true },
        { "type", "u16", names = types },
        { "flag", "u16" },
        { "flag of message", "u16", label = "flag", names = flags[0], filter = "flag" },
        { "flag of ACK", "u16", label = "flag", names = flags[1], filter = "flag" },
        { "sequence", "u32" },
        { "source", "u16" },
        { "destination", "u16" },
        { "message", "group" },
        { "name", "text", filter = "message.name" },
        { "instance", "u32", filter = "message.instance" },
        { "id", "u32", filter = "message.id" },
        { "data", "octets" },
        { "crc", "u16", hex = true, crc = true },
    })

    -- Three characters in four octets each; what is no character shows as a dot.
    local function name_of(range)
        local name = ""
        for i = 0, 2 do
            local code = range(4 * i, 4):uint()
            name = name .. (code >= 32 and code < 127 and string.char(code) or ".")
        end
        return name
    end

    local function add_message(tree, range)
        local f = task.f
        local item = tree:add(f.message, range)
        item:add(f.name, range(0, 12), name_of(range(0, 12)))
        item:add(f.instance, range(12, 4)):append_text(
            range(12, 4):uint() == EVERY_INSTANCE and " (-1, every one)" or "")
        item:add(f.id, range(16, 4))
    end

    -- Of a whole cell, its header included.
    function aal.add.atmtask(tvb, pinfo, root)
        local f = task.f
        local tree = leat.begin(task, tvb, pinfo, root)
        local type, flag = tvb(5, 2):uint() % TYPES, tvb(7, 2):uint()
        local sequence = (tvb(5, 2):uint() - type) / TYPES * 65536 + tvb(9, 2):uint()
        leat.info(string.format("%s %d, port %d to %d", types[type] or "type " .. type,
            sequence, tvb(11, 2):uint(), tvb(13, 2):uint()))
        tree:add(f.vpi, tvb(0, 2))
        local zero = tree:add(f.zero, tvb(1, 4))
        local type_item = tree:add(f.type, tvb(5, 2), type)
        local flag_field = type == 0 and f["flag of message"] or types[type] and f["flag of ACK"]
            or f.flag
        local flag_item = tree:add(flag_field, tvb(7, 2))
        tree:add(f.sequence, tvb(9, 2), sequence)
        tree:add(f.source, tvb(11, 2))
        tree:add(f.destination, tvb(13, 2)):append_text(
            tvb(13, 2):uint() == BROADCAST and " (broadcast)" or "")
        local first = type == 0 and flag % 2 == 1
        if first then add_message(tree, tvb(15, 20)) end
        tree:add(f.data, first and tvb(35, 16) or tvb(15, 36))
        local right = leat.crc16(tvb:raw(5, 46))
        local good = tvb(51, 2):uint() == right
        leat.checksum_status(task, tree, tree:add(f.crc, tvb(51, 2)), "crc", tvb(51, 2), good,
            string.format("0x%04x", right))
        if tvb(1, 1):uint() % 16 ~= 0 then
            leat.fail(task, zero, "RESERVED")
        elseif not good then
            leat.fail(task, tree, "CHECKSUM", "crc")
        elseif not types[type] then
            leat.fail(task, type_item, "TYPE")
        elseif not flags[type][flag] then
            leat.fail(task, flag_item, "RESERVED")
        end
    end

    return aal
end

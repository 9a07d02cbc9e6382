-- What the dissectors of leat share: fields, checksums, errors, and how a packet is carried.
--
-- A protocol is made by leat.protocol(name, title, fields). Labels are the field names that `leat
-- decode --json` prints; the filter name is the label in lower case with underscores behind the
-- protocol's name: compValTag of leat_esp is leat_esp.comp_val_tag.
--
-- Every dissector is total: it looks at the length before it touches an octet. What is wrong with
-- a packet is one field, <protocol>.error, holding the code that `leat decode` gives, plus an
-- expert information. A checksum has a field <protocol>.<checksum>.status beside it.

return function(bit)
    local leat = { bit = bit }
    local band, bxor, lshift, rshift = bit.band, bit.bxor, bit.lshift, bit.rshift

    -- ---------------------------------------------------------------- errors

    -- Codes and texts of include/leat/err.h: those that a decoder can give.
    local error_texts = {
        SHORT = "buffer ends before the packet does",
        LENGTH = "length field or buffer length is not allowed",
        CHECKSUM = "checksum does not match",
        RANGE = "field value does not fit its width or its limits",
        RESERVED = "reserved bits are not zero",
        TYPE = "unknown type, opcode or operator",
        DUPLICATE = "values that must differ are equal",
        E_SHORT = "message or record ends too early",
        E_ALIGN = "length is not a whole number of 8-octet words",
        E_VERSION = "version is not 0",
        E_RSV = "reserved bits are not zero",
        E_L2RH_LEN = "L2RH without route octets",
        E_SYM_TYPE = "symbol type 0 is reserved",
        E_DT_RESERVED = "destination is of the reserved class",
        E_ADDR = "address is not allowed here",
        E_SA = "source address is none that a node may have",
        E_PT = "packet type 0 is illegal",
        E_TE = "type extension is unknown",
        E_ENDIAN = "endianness field is illegal here",
        E_PAD = "padding length is illegal here",
        E_OH_TYPE = "optional field type 0 is illegal",
        E_OH_LEN = "optional field has the wrong length for its type",
        E_OH_UNTERM = "optional fields have no last one",
        E_OH_MANDATORY = "mandatory optional field is unknown",
        E_OT_LEN = "announced trailer field is missing",
        E_TRAILING = "words left over before TAIL",
        E_CRC = "CRC does not match",
        E_TOO_MANY = "more than 64 fields of one kind, or 32 in RCVF",
        E_REC_TYPE = "record type is unknown",
        E_REC_LEN = "record length is illegal",
        E_REC_PL = "record padding is illegal",
        E_AT = "address type is illegal here",
        E_RANGE = "address range is empty or mixed",
        E_CC = "capability code 0 is illegal",
        E_SR = "source route does not hold just L2RHs",
        E_MSG = "records do not form this message",
        P_E_SUPDEV = "packet to the supervisor with a device index",
        P_E_OPNOCNC = "opcode in a packet that is not a control packet",
        P_E_FLITS = "length is not 1 to 4 flits of 16 octets",
    }

    -- ---------------------------------------------------------------- CRCs

    -- Shifts one octet through a register of `width` bits, most significant bit first.
    local function table_msb(width, poly)
        local t, top, all = {}, 2 ^ (width - 1), 2 ^ width
        for i = 0, 255 do
            local r = i * 2 ^ (width - 8)
            for _ = 1, 8 do
                r = r >= top and bxor((r * 2) % all, poly) % all or r * 2
            end
            t[i] = math.floor(r)
        end
        return t
    end

    local hec_table = table_msb(8, 0x07)
    local crc10_table = table_msb(10, 0x233) -- 0x633 without its top bit
    local crc16_table = table_msb(16, 0x1021)
    local crc32_msb_table = table_msb(32, 0x04c11db7)

    local crc32_table, crc64_hi, crc64_lo = {}, {}, {}
    for i = 0, 255 do
        local r, hi, lo = i, 0, i
        for _ = 1, 8 do
            r = r % 2 == 1 and bxor(rshift(r, 1), 0xedb88320) % 2 ^ 32 or rshift(r, 1)
            local out = lo % 2
            lo = math.floor(lo / 2) + (hi % 2) * 2 ^ 31
            hi = math.floor(hi / 2)
            if out == 1 then
                hi = bxor(hi, 0xc96c5795) % 2 ^ 32
                lo = bxor(lo, 0xd7870f42) % 2 ^ 32
            end
        end
        crc32_table[i], crc64_hi[i], crc64_lo[i] = r, math.floor(hi), math.floor(lo)
    end

    -- All take a Lua string of octets.
    function leat.hec(s)
        local crc = 0
        for i = 1, 4 do
            crc = hec_table[bxor(crc, s:byte(i))]
        end
        return bxor(crc, 0x55)
    end

    function leat.crc10(s)
        local crc = 0
        for i = 1, #s do
            crc = bxor(lshift(band(crc, 3), 8), crc10_table[bxor(rshift(crc, 2), s:byte(i))])
        end
        return crc
    end

    -- The CRC-10 of a 48-octet SAR-PDU covers its first 374 bits: 46 octets and six bits.
    function leat.crc10_of_pdu(s)
        local crc = leat.crc10(s:sub(1, 46))
        local six = rshift(s:byte(47), 2)
        for i = 5, 0, -1 do
            local out = bxor(rshift(crc, 9), band(rshift(six, i), 1))
            crc = band(lshift(crc, 1), 0x3ff)
            if out == 1 then crc = bxor(crc, 0x233) end
        end
        return crc
    end

    function leat.crc16(s)
        local crc = 0
        for i = 1, #s do
            crc = bxor(band(lshift(crc, 8), 0xffff), crc16_table[bxor(rshift(crc, 8), s:byte(i))])
        end
        return crc
    end

    function leat.crc32_msb(s)
        local crc = 0xffffffff
        for i = 1, #s do
            crc = bxor(lshift(crc, 8), crc32_msb_table[bxor(rshift(crc, 24), s:byte(i))])
        end
        return bxor(crc, 0xffffffff) % 2 ^ 32
    end

    function leat.crc32(s)
        local crc = 0xffffffff
        for i = 1, #s do
            crc = bxor(rshift(crc, 8), crc32_table[band(bxor(crc, s:byte(i)), 0xff)])
        end
        return bxor(crc, 0xffffffff) % 2 ^ 32
    end

    -- The two halves of a 64-bit CRC: a Lua number holds no more than 53 bits.
    function leat.crc64(s)
        local hi, lo = 0xffffffff, 0xffffffff
        for i = 1, #s do
            local at = band(bxor(lo, s:byte(i)), 0xff)
            lo = bxor(bxor(rshift(lo, 8), lshift(band(hi, 0xff), 24)), crc64_lo[at])
            hi = bxor(rshift(hi, 8), crc64_hi[at])
        end
        return bxor(hi, 0xffffffff) % 2 ^ 32, bxor(lo, 0xffffffff) % 2 ^ 32
    end

    -- ---------------------------------------------------------------- protocols

    local types = {
        u8 = ftypes.UINT8, u16 = ftypes.UINT16, u24 = ftypes.UINT24, u32 = ftypes.UINT32,
        u64 = ftypes.UINT64, bool = ftypes.BOOLEAN, octets = ftypes.BYTES, text = ftypes.STRING,
        frame = ftypes.FRAMENUM, group = ftypes.NONE,
    }
    local digits = { u8 = 2, u16 = 4, u24 = 6, u32 = 8, u64 = 16 }
    local status_names = { [0] = "Bad", [1] = "Good" }

    -- compValTag is comp_val_tag, CPUIdleCount cpu_idle_count.
    function leat.snake(label)
        local words = label:gsub("(%l)(%u)", "%1_%2"):gsub("(%u)(%u%l)", "%1_%2")
        return (words:gsub(" ", "_"):lower())
    end

    local function new_field(protocol, spec)
        local label, kind = spec.label or spec[1], spec[2]
        local display = base.NONE
        if kind == "bool" then
            display = spec.mask and digits[spec.of or "u8"] * 4 or base.NONE
        elseif digits[kind] then
            display = spec.hex and base.HEX or base.DEC
        end
        local abbrev = protocol .. "." .. (spec.filter or leat.snake(label))
        if spec.mask then
            return ProtoField.new(label, abbrev, types[kind], spec.names, display, spec.mask)
        elseif kind == "octets" then
            return ProtoField.bytes(abbrev, label)
        end
        return ProtoField.new(label, abbrev, types[kind], spec.names, display)
    end

    -- `fields` is a list of { key, kind, ... }: mask = M for a part of its octets (of = "u16" says
    -- how many, for a bool), hex = true, names = {...} of its values, crc = true for a checksum;
    -- label and filter where they do not follow from the key. The result has the Proto, its fields
    -- by key (p.f), and the expert informations.
    function leat.protocol(name, title, column, fields)
        local p = { proto = Proto(name, title), column = column, f = {} }
        local list = {}
        local function define(spec)
            p.f[spec[1]] = new_field(name, spec)
            list[#list + 1] = p.f[spec[1]]
        end
        for _, spec in ipairs(fields) do
            define(spec)
            if spec.crc then
                define { spec[1] .. " status", "u8", names = status_names,
                         filter = (spec.filter or leat.snake(spec[1])) .. ".status" }
            end
        end
        define { "error", "text" }
        p.proto.fields = list
        p.bad_checksum = ProtoExpert.new(name .. ".checksum_bad", "Bad checksum",
            expert.group.CHECKSUM, expert.severity.ERROR)
        p.malformed = ProtoExpert.new(name .. ".malformed", "Malformed packet",
            expert.group.MALFORMED, expert.severity.ERROR)
        p.proto.experts = { p.bad_checksum, p.malformed }
        return p
    end

    local columns -- of the packet at hand

    -- Begins a packet: columns, and the tree item of the protocol.
    function leat.begin(p, tvb, pinfo, tree)
        columns = pinfo.cols
        columns.protocol = p.column
        columns.info = "malformed"
        return tree:add(p.proto, tvb())
    end

    function leat.info(text)
        columns.info = text
    end

    -- Says what is wrong, in the Info column and under `item`. A wrong checksum has an expert
    -- information of its own already.
    function leat.fail(p, item, code, detail)
        local text = error_texts[code] .. (detail and ": " .. detail or "")
        columns.info:append(" [" .. code .. "]")
        item:add(p.f.error, code):set_generated():append_text(" (" .. text .. ")")
        if code ~= "CHECKSUM" and code ~= "E_CRC" then
            item:add_proto_expert_info(p.malformed, code .. ": " .. text)
        end
    end

    -- How a checksum stands: a status beside its item, and an expert information where it is wrong.
    function leat.checksum_status(p, tree, item, label, range, good, should)
        item:append_text(good and " [correct]" or " [incorrect, should be " .. should .. "]")
        tree:add(p.f[label .. " status"], range, good and 1 or 0):set_generated()
        if not good then
            item:add_proto_expert_info(p.bad_checksum, label .. " should be " .. should)
        end
    end

    -- A checksum in the low `bits` bits of a range of up to 32. Returns whether it is right.
    function leat.checksum(p, tree, label, range, bits, right)
        local good = range:uint() % 2 ^ bits == right
        local should = string.format("0x%0" .. math.ceil(bits / 4) .. "x", right)
        leat.checksum_status(p, tree, tree:add(p.f[label], range), label, range, good, should)
        if not good then leat.fail(p, tree, "CHECKSUM", label) end
        return good
    end

    -- ---------------------------------------------------------------- carriage

    -- `where` says under which numbers of Wireshark's tables a protocol travels.
    function leat.carry(proto, where)
        for table_name, number in pairs(where) do
            DissectorTable.get(table_name):add(number, proto)
        end
    end

    return leat
end

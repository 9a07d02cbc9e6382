-- The records of PacketWay's RRP and ERR messages, and which of them form which message.
--
--     RTyp (8) | PL (8) | RL (16) | first 4 record octets | RL words    data: 8*RL + 4 - PL octets
--
-- ADDR and RTHD hold records themselves. As elsewhere the first error ends the reading: functions
-- return nil (by m:fail) where it was found, something true otherwise.

return function(leat)
    local records = {}

    local WORD, DATA_AT, ENTRY_LEN, PL_MAX = 8, 4, 4, 7
    local ROUTE_MAX, RCVF_MAX = 64, 128
    local PT_RRP, PT_ERR = 1, 65535
    local ADDR, NAME, CAPA, LADR, SRQR, MTUR, RCVF, RTHD, SNID = 41, 42, 43, 44, 45, 46, 47, 48, 49
    local SINGLE, MIN, MAX, VALUE, MASK = 1, 2, 3, 4, 5
    local HEY_YOU, BROADCAST = 0x7ffffe, 0x7fffff

    local names = {
        [ADDR] = "ADDR", [NAME] = "NAME", [CAPA] = "CAPA", [LADR] = "LADR", [SRQR] = "SRQR",
        [MTUR] = "MTUR", [RCVF] = "RCVF", [RTHD] = "RTHD", [SNID] = "SNID",
    }
    local address_types = {
        [SINGLE] = "single", [MIN] = "min", [MAX] = "max", [VALUE] = "value", [MASK] = "mask",
    }
    local capabilities = {
        [1] = "NODE", [2] = "ROUTER", [3] = "SERVER", [4] = "MULTICAST-SERVER", [5] = "NFS",
        [6] = "PAGING-SERVER", [7] = "FLOAT-DSP", [8] = "FIXED-DSP", [9] = "PRINTER",
        [253] = "SECURE-HR", [254] = "MULTICAST-AGENT", [255] = "SAN",
    }

    records.fields = {
        { "records", "group" },
        { "record type", "u8", label = "type", names = names, filter = "records.type" },
        { "record pl", "u8", label = "pl", filter = "records.pl" },
        { "rl", "u16", filter = "records.rl" },
        { "at", "u8", names = address_types, filter = "records.at" },
        { "address", "u24", hex = true, filter = "records.address" },
        { "min", "u24", hex = true, filter = "records.min" },
        { "max", "u24", hex = true, filter = "records.max" },
        { "value", "u24", hex = true, filter = "records.value" },
        { "mask", "u24", hex = true, filter = "records.mask" },
        { "name", "text", filter = "records.name" },
        { "cc", "u8", names = capabilities, filter = "records.cc" },
        { "parameters", "octets", filter = "records.parameters" },
        { "q", "u16", filter = "records.q" },
        { "mtu", "u32", filter = "records.mtu" },
        { "sn", "u16", filter = "records.sn" },
        { "sanId", "u24", hex = true, filter = "records.san_id" },
    }
    local field_of_type = {
        [SINGLE] = "address", [MIN] = "min", [MAX] = "max", [VALUE] = "value", [MASK] = "mask",
    }

    -- ---------------------------------------------------------------- addresses

    function records.class_of(address)
        if address < 0x800000 then return "physical" end
        if address < 0xc00000 then return "L2RH" end
        if address < 0xe00000 then return "reserved" end
        return address < 0xf00000 and "logical" or "symbol"
    end

    function records.add_address(tree, field, range)
        local address, note = range:uint(), ""
        if address == HEY_YOU then
            note = " (Hey-You)"
        elseif address == BROADCAST then
            note = " (broadcast)"
        elseif records.class_of(address) == "logical" then
            note = " (logical)"
        end
        return tree:add(field, range):append_text(note)
    end

    local function is_logical(address)
        return records.class_of(address) == "logical"
    end

    local function is_physical(address) -- of a node
        return address >= 1 and address < HEY_YOU
    end

    local function is_node(address)
        return is_physical(address) or is_logical(address)
    end

    -- What is wrong with an entry, a single address or a pair of them; nil if nothing.
    local function entry_fault(entry, allowed)
        local low, high = entry.low, entry.high
        if entry.at == SINGLE then
            return not allowed(low) and "E_ADDR" or nil
        elseif entry.at == MIN then
            if not allowed(low) or not allowed(high) then return "E_ADDR" end
            return (low > high or is_logical(low) ~= is_logical(high)) and "E_RANGE" or nil
        elseif entry.at == VALUE then
            -- Value 0 takes in the lowest physical addresses; a mask is no address.
            if not allowed(low) and not (low == 0 and allowed(1)) then return "E_ADDR" end
            return leat.bit.band(low, high) ~= low and "E_RANGE" or nil
        end
        return "E_AT"
    end

    -- ---------------------------------------------------------------- records

    -- `p` is the protocol, whose fields include records.fields; add_l2rh shows one L2RH. Returns
    -- the function that reads all of a DB.
    function records.reader(p, add_l2rh, add_pad)
        local f = p.f
        local add_list -- ADDR and RTHD hold records themselves

        -- One entry at `at`, a pair where its AT begins one; nil where the pair is broken.
        local function add_entry(m, r, at, stop)
            local tvb = m.tvb
            local entry = { at = tvb(at, 1):uint(), low = tvb(at + 1, 3):uint() }
            r.item:add(f.at, tvb(at, 1))
            records.add_address(r.item, f[field_of_type[entry.at] or "address"], tvb(at + 1, 3))
            at = at + ENTRY_LEN
            if entry.at == MIN or entry.at == VALUE then
                if at == stop or tvb(at, 1):uint() ~= entry.at + 1 then return end
                r.item:add(f.at, tvb(at, 1))
                records.add_address(r.item, f[field_of_type[entry.at + 1]], tvb(at + 1, 3))
                entry.high = tvb(at + 1, 3):uint()
                at = at + ENTRY_LEN
            end
            return entry, at
        end

        -- What each type holds; `at` is its head, `stop` its end.
        local bodies = {}

        bodies[ADDR] = function(m, r, at, stop)
            local kind = m.tvb(at + DATA_AT, 1):uint()
            if kind ~= SINGLE and kind ~= MIN and kind ~= VALUE then
                r.item:add(f.at, m.tvb(at + DATA_AT, 1))
                return m:fail(r.item, "E_AT")
            end
            if r.pl ~= (kind == SINGLE and 0 or 4) then return m:fail(r.item, "E_REC_PL") end
            if kind ~= SINGLE and r.rl == 0 then return m:fail(r.item, "E_REC_LEN") end
            local entry, entry_end = add_entry(m, r, at + DATA_AT, stop)
            if not entry then return m:fail(r.item, "E_AT") end
            r.entry = entry
            r.item:append_text(string.format(" 0x%06x", entry.low))
            if entry.high then
                local between = kind == MIN and ".." or "/"
                r.item:append_text(string.format("%s0x%06x", between, entry.high))
                add_pad(r.item, m.tvb, entry_end, entry_end + 4)
                entry_end = entry_end + 4
            end
            local fault = entry_fault(entry, is_node)
            if fault then return m:fail(r.item, fault) end
            -- A misplaced ADDR is not opened: the grammar refuses it.
            r.nested = r.within ~= "ADDR" and add_list(m, r.item, entry_end, stop, "ADDR") or {}
            return not m.failed
        end

        bodies[NAME] = function(m, r, at, stop)
            if r.data_len < 1 then return m:fail(r.item, "E_REC_PL") end
            r.item:add(f.name, m.tvb(at + DATA_AT, r.data_len))
            add_pad(r.item, m.tvb, stop - r.pl, stop)
            return true
        end

        bodies[CAPA] = function(m, r, at, stop)
            if r.data_len < 1 then return m:fail(r.item, "E_REC_PL") end
            local code = m.tvb(at + DATA_AT, 1)
            r.item:add(f.cc, code)
            r.item:append_text(" " .. (capabilities[code:uint()] or code:uint()))
            if code:uint() == 0 then return m:fail(r.item, "E_CC") end
            if r.data_len > 1 then
                r.item:add(f.parameters, m.tvb(at + DATA_AT + 1, r.data_len - 1))
            end
            add_pad(r.item, m.tvb, stop - r.pl, stop)
            return true
        end

        -- LADR and RCVF: entries, then nothing or four octets of pad.
        local function add_entries(m, r, at, stop, allowed, count_max)
            if (r.pl ~= 0 and r.pl ~= 4) or r.data_len < ENTRY_LEN then
                return m:fail(r.item, "E_REC_PL")
            end
            local count, entry, fault = 0, nil, nil
            at = at + DATA_AT
            while at < stop - r.pl do
                entry, at = add_entry(m, r, at, stop - r.pl)
                if not entry or (count_max and entry.at ~= SINGLE) then
                    return m:fail(r.item, "E_AT")
                end
                fault = entry_fault(entry, allowed)
                if fault then return m:fail(r.item, fault) end
                count = count + 1
            end
            add_pad(r.item, m.tvb, at, stop)
            if count_max and count > count_max then return m:fail(r.item, "E_TOO_MANY") end
            return true
        end

        bodies[LADR] = function(m, r, at, stop)
            return add_entries(m, r, at, stop, is_logical)
        end

        bodies[RCVF] = function(m, r, at, stop)
            return add_entries(m, r, at, stop, is_physical, RCVF_MAX)
        end

        bodies[SRQR] = function(m, r, at, stop)
            r.item:add(f.q, m.tvb(at + 6, 2))
            if r.pl ~= 2 then return m:fail(r.item, "E_REC_PL") end
            r.route_count = 0
            at = at + WORD
            while at < stop do
                at = m.tvb(at + 1, 1):bitfield(0, 2) == 2 and add_l2rh(m, r.item, at, stop, "E_SR")
                if not at then return m:fail(r.item, "E_SR") end
                r.route_count = r.route_count + 1
                if r.route_count > ROUTE_MAX then return m:fail(r.item, "E_TOO_MANY") end
            end
            return true
        end

        bodies[MTUR] = function(m, r, at)
            local range = m.tvb(at + DATA_AT, 4)
            r.item:add(f.mtu, range):append_text(range:uint() == 0 and " (unlimited)" or " words")
            if r.pl ~= 0 then return m:fail(r.item, "E_REC_PL") end
            if r.rl ~= 0 then return m:fail(r.item, "E_REC_LEN") end
            return true
        end

        bodies[RTHD] = function(m, r, at, stop)
            r.item:add(f.sn, m.tvb(at + 6, 2))
            if r.pl ~= 2 then return m:fail(r.item, "E_REC_PL") end
            r.nested = r.within == "DB" and add_list(m, r.item, at + WORD, stop, "RTHD") or {}
            return not m.failed
        end

        bodies[SNID] = function(m, r, at)
            if r.pl ~= 0 then return m:fail(r.item, "E_REC_PL") end
            if r.rl ~= 0 then return m:fail(r.item, "E_REC_LEN") end
            local kind, id = m.tvb(at + DATA_AT, 1), m.tvb(at + DATA_AT + 1, 3)
            r.item:add(f.at, kind)
            r.item:add(f.sanId, id)
            if kind:uint() ~= SINGLE then return m:fail(r.item, "E_AT") end
            if id:uint() == 0 or is_physical(id:uint()) then return true end
            return m:fail(r.item, "E_ADDR")
        end

        -- All records from `at` to `stop`, both on word boundaries.
        function add_list(m, tree, at, stop, within)
            local list = {}
            while at < stop do
                local tvb = m.tvb
                local r = { type = tvb(at, 1):uint(), pl = tvb(at + 1, 1):uint(),
                            rl = tvb(at + 2, 2):uint(), within = within }
                local next_at = at + WORD * (1 + r.rl)
                r.item = tree:add(f.records, tvb(at, math.min(next_at, stop) - at))
                r.item:set_text(names[r.type] or "record of type " .. r.type)
                r.item:add(f["record type"], tvb(at, 1))
                r.item:add(f["record pl"], tvb(at + 1, 1))
                r.item:add(f.rl, tvb(at + 2, 2))
                r.data_len = WORD * r.rl + 4 - r.pl
                if not bodies[r.type] then return m:fail(r.item, "E_REC_TYPE") end
                if next_at > stop then return m:fail(r.item, "E_REC_LEN") end
                if r.pl > PL_MAX or r.data_len < 0 then return m:fail(r.item, "E_REC_PL") end
                if not bodies[r.type](m, r, at, next_at) then return end
                list[#list + 1] = r
                at = next_at
            end
            return list
        end

        return function(m, tree, at, stop)
            return add_list(m, tree, at, stop, "DB")
        end
    end

    -- ---------------------------------------------------------------- grammar

    -- Messages are read from left to right. r.list[r.at] is the record in hand; at the end of the
    -- list r.item, its parent, is to blame.
    local function reader_of(list, item)
        return { list = list, at = 1, item = item }
    end

    local function in_hand(r)
        return r.list[r.at]
    end

    local function take(r, type)
        if not in_hand(r) or in_hand(r).type ~= type then return end
        r.at = r.at + 1
        return r.list[r.at - 1]
    end

    local function blame(m, r, code)
        return m:fail(in_hand(r) and in_hand(r).item or r.item, code)
    end

    local function at_end(m, r)
        if in_hand(r) then return blame(m, r, "E_MSG") end
        return true
    end

    -- An ADDR for one node, physical; it stays in hand.
    local function one_node(m, r)
        local address = in_hand(r)
        if not address or address.type ~= ADDR then return blame(m, r, "E_MSG") end
        if address.entry.at ~= SINGLE then return blame(m, r, "E_AT") end
        if is_logical(address.entry.low) then return blame(m, r, "E_ADDR") end
        return true
    end

    -- Takes an ADDR with nothing nested.
    local function bare_address(m, r)
        local address = in_hand(r)
        if not address or address.type ~= ADDR or #address.nested > 0 then
            return blame(m, r, "E_MSG")
        end
        return take(r, ADDR)
    end

    local function bare_node(m, r)
        return one_node(m, r) and bare_address(m, r)
    end

    -- Records about a node come in this order, with at most one NAME and one LADR.
    local rank_of = { [NAME] = 1, [CAPA] = 2, [LADR] = 3, [SRQR] = 4 }

    -- Takes an ADDR{..} about a node or a range of nodes.
    local function node(m, r, route_needed)
        local address = take(r, ADDR)
        if not address then return blame(m, r, "E_MSG") end
        local inner, last, routed = reader_of(address.nested, address.item), 0, false
        while in_hand(inner) do
            local type = in_hand(inner).type
            local rank = rank_of[type]
            local repeated = rank == last and (type == NAME or type == LADR)
            if not rank or rank < last or repeated
                or type == NAME and address.entry.at ~= SINGLE then
                return blame(m, inner, "E_MSG")
            end
            last, routed = rank, type == SRQR
            take(inner, type)
            if routed then take(inner, MTUR) end
        end
        if route_needed and not routed then return blame(m, inner, "E_MSG") end
        return true
    end

    local function question(m, r)
        return bare_node(m, r) and at_end(m, r)
    end

    local function two_nodes(m, r)
        return bare_node(m, r) and bare_node(m, r) and at_end(m, r)
    end

    local function redirection(m, r) -- the destination may be a range
        return bare_address(m, r) and bare_node(m, r) and at_end(m, r)
    end

    local function wanted(m, r)
        repeat
            if not take(r, NAME) and not take(r, CAPA) and not bare_address(m, r) then return end
        until not in_hand(r)
        return true
    end

    local function information(m, r)
        repeat
            if not node(m, r, false) then return end
        until not in_hand(r)
        return true
    end

    local function routes(m, r)
        if not one_node(m, r) then return end
        local address = take(r, ADDR)
        local inner = reader_of(address.nested, address.item)
        repeat
            local route = in_hand(inner)
            if not route or route.type ~= SRQR then return blame(m, inner, "E_MSG") end
            if route.route_count == 0 then return blame(m, inner, "E_SR") end
            take(inner, SRQR)
            take(inner, MTUR)
        until not in_hand(inner)
        return at_end(m, r)
    end

    local function routing_table(m, r)
        local head = take(r, RTHD)
        if not head then return blame(m, r, "E_MSG") end
        local inner = reader_of(head.nested, head.item)
        for _, type in ipairs { SNID, RCVF, SRQR, MTUR } do
            if not take(inner, type) then return blame(m, inner, "E_MSG") end
        end
        while in_hand(inner) do
            if not node(m, inner, true) then return end
        end
        return at_end(m, r)
    end

    local grammar = {
        [PT_RRP] = {
            [21] = question, [22] = routes, [23] = redirection, [24] = wanted, [25] = information,
            [26] = question, [27] = at_end, [28] = at_end, [29] = routing_table,
        },
        [PT_ERR] = { [71] = wanted, [72] = two_nodes, [73] = two_nodes },
    }

    -- Do these records form the message of this PT and TE? `item` holds them.
    function records.check_message(m, pt, te, list, item)
        return grammar[pt][te](m, reader_of(list, item))
    end

    return records
end

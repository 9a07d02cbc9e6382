-- Wireshark/tshark dissectors for the formats of leat: ATM cells and their adaptation layers, ATON,
-- ESP, PacketWay, POETS. README.md beside this file says how to use them and names the filters.
--
--     tshark -X lua_script:share/wireshark/leat.lua -V -r capture.pcapng
--
-- The rooms live in leat/*.lua. Each of those files only returns a function, so that Wireshark,
-- which runs every .lua file below a plugin folder, does nothing by running them on its own.

-- Installed and named on the command line as well: once is enough.
if package.loaded.leat_dissectors then return end
package.loaded.leat_dissectors = true

local here = debug.getinfo(1, "S").source:gsub("^@", ""):match("^(.*[/\\])") or ""

local leat = dofile(here .. "leat/common.lua")(bit32 or bit)

function leat.load(part)
    return dofile(here .. "leat/" .. part .. ".lua")(leat)
end

for _, room in ipairs { "atm", "aton", "esp", "packetway", "poets" } do
    leat.load(room)
end

#!/bin/sh
# usage: messages.sh LEAT [COMMAND-TEST...]
# No decision reads a message: a copy of the command in which every message is altered, and nothing
# else, passes the tests of the command. In the copy the byte 1 stands for e within the words of a
# message; it becomes an e again on output, so that the tests need no change.
set -u
leat=$(realpath "$1")
shift
here=$(dirname "$0")
. "$here/lib.sh"

# A text that is only looked for ("expected") is no message. What follows "expected" stays: the linker
# lets the end of a message be a word of its own.
LC_ALL=C sed -z '/[^[:print:]]/b
    :more
    s/\([a-z]\)e\([a-z][^ ]* .* \(%s\)\{0,1\}expected \)/\1\x01\2/; t more
    s/\([^ ] \)\(%s\)\{0,1\}expected /\1\2exp\x01ct\x01d /g
    s/no station here./no station h\x01re,/
    s/slower: \(.\)/slow\x01r: \1/' "$leat" > "$folder/altered"
chmod +x "$folder/altered"
cat > "$folder/leat" <<SH
#!/bin/sh
exec 5<&0 # what runs behind has no standard input of its own
said=\$(mktemp)
trap 'rm -f "\$said"' EXIT
'$folder/altered' "\$@" 2> "\$said" <&5 &
trap 'kill -s TERM \$!; wait \$!; exit' TERM
wait \$!
code=\$?
LC_ALL=C tr '\\001' e < "\$said" >&2
exit \$code
SH
chmod +x "$folder/leat"

"$folder/altered" nosuch 2> "$folder/stderr"
same "messages are altered" "$(tr '\001' . < "$folder/stderr" | sed -n 's/one of.*//p')" "leat: unknown v.rb 'nosuch', exp.ct.d "

# No source searches a message, as far as the usual names of messages show it.
readers=$(git ls-files 'core/*.[ch]' 'proto/*.[ch]' 'sim/*.[ch]' 'fabric/*.[ch]' 'live/*.[ch]' 'program/*.[ch]' 'tool/*.[ch]' |
    grep -v '_test\.[ch]$' |
    xargs grep -nE '\b(str[a-z]*(str|cmp)|memcmp|memmem|sscanf)\(([^;]*[^a-z_])?([a-z]+_)?(why|reason|refused)(->|\.|,|\))')
same "source that reads messages" "$readers" ""

# Exit codes of members and roots: a wrong address is a wrong request.
exits 2 "leat: --root 'nowhere', expected ADDRESS" "$folder/leat" esp join 7 --root nowhere
exits 2 "leat: --bind 'nowhere', expected ADDRESS" "$folder/leat" esp join 7 --root 127.0.0.1 --bind nowhere
exits 2 "leat: --bind 'nowhere', expected ADDRESS" "$folder/leat" esp census 7 --bind nowhere
exits 1 "leat: UDP port 4253: " "$folder/leat" esp join 7 --root 127.0.0.1 --bind 192.0.2.1
exits 2 "leat: no station on this host, expected one from leat ring join" "$folder/leat" ring status
exits 2 "leat: lo: no station here, expected one from leat ring join" "$folder/leat" ring stop --dev lo

for script in "${@:-tool/cli/bad_input_test.sh}"; do
    sh "$script" "$folder/leat" > "$folder/log" 2>&1 || fail "$script with altered messages: $(cat "$folder/log")"
done
finish

# usage: awk -v version=VERSION -v folder=FOLDER -f manual.awk README.md HEADER...
# Manual pages of section 3 from the headers: FOLDER/leat_NAME.3 for each leat/NAME.h, and a page that leads there
# for each of its functions. The table in README.md gives the line under NAME and the libraries.
#
# A header is a sequence of items: a comment and the declarations below it, up to an empty line. An item that
# nobody explained, neither above it nor inside it, is an error. Prose of comments is filled; what is indented by
# more than one space is kept as it stands. Lists (X macros) are expanded, so that each constant is on the page.

FILENAME ~ /README\.md$/ {
    if (split($0, cell, / *\| */) > 4 && match(cell[2], /^`[a-z_]+\.h`$/)) {
        header = substr(cell[2], 2, length(cell[2]) - 4)
        offers[header] = cell[3]
        gsub(/`/, "", offers[header])
        libraries[header] = cell[4]
        gsub(/[`,]/, "", libraries[header])
    }
    next
}

FNR == 1 { begin_page() }
in_comment { comment_line($0); next }
skipped_until && $0 ~ skipped_until { skipped_until = ""; next }
skipped_until { next }
depth == 0 && /^#ifdef __cplusplus/ { skipped_until = "^#endif"; next }
depth == 0 && (/^#ifndef LEAT_.*_H$/ || /^#define LEAT_.*_H$/ || /^#endif/ || /clang-format o/) { next }
depth == 0 && /^#include/ { note_include(); next }
depth == 0 && !in_macro && /^\/\* -+ .* -+ \*\/$/ { begin_group(); next }
depth == 0 && !in_macro && /^ *\/\*/ { end_item(); in_comment = 1; comment_line($0); next }
depth == 0 && !in_macro && /^$/ { end_item(); next }
/^#undef/ { next }
{ declaration_line($0) }
END { end_page(); exit failed }

function begin_page() {
    end_page()
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.h$/, "", name)
    title = "leat_" name
    page = folder "/" title ".3"
    see = ".BR leat (1)"
    in_comment = in_macro = depth = opened = 0
    comment = declarations = skipped_until = ""
}

function end_page() {
    if (page == "")
        return
    end_item()
    if (opened) {
        put(".SH SEE ALSO")
        put(see)
        close(page)
    }
    page = ""
}

# Headers that are included are further reading. The older name of a header includes the newer one only: so does its
# page.
function note_include(    other) {
    if (!match($0, /<leat\/[a-z_]+\.h>/))
        return
    other = "leat_" substr($0, RSTART + 6, RLENGTH - 9)
    if (opened)
        see = see ",\n.BR " other " (3)"
    else {
        print ".so man3/" other ".3" > page
        comment = ""
    }
}

function comment_line(line) {
    sub(/^ *\/?\*+ ?/, "", line)
    in_comment = line !~ /\*\/ *$/ && line !~ /^\/$/
    sub(/ *\*?\/ *$/, "", line)
    comment = comment line "\n"
    if (!in_comment)
        sub(/^\n+/, "", comment)
}

function begin_group(    group) {
    end_item()
    group = $0
    gsub(/^\/\* -+ | -+ \*\/$/, "", group)
    put(".SS " text(toupper(substr(group, 1, 1)) substr(group, 2)))
}

# ---- declarations

function declaration_line(line) {
    if (!first_line)
        first_line = FNR
    if (in_macro || line ~ /^#define/)
        macro_line(line)
    else if (depth == 0 && line ~ /^\{/) { # of an inline function the prototype is enough
        sub(/\n$/, ";\n", declarations)
        skipped_until = "^}"
    } else {
        declarations = declarations expanded(line) "\n"
        gsub(/\/\*.*\*\//, "", line)
        depth += gsub(/\{/, "{", line) - gsub(/\}/, "}", line)
    }
}

function macro_line(line) {
    macro = macro (in_macro ? "\n" : "") line
    in_macro = line ~ /\\$/
    if (in_macro)
        return
    if (define(macro))
        declarations = declarations macro "\n"
    macro = ""
}

# Remembers a macro with parameters. Is it one for the page? Not if it serves the next enum only.
function define(macro,    head) {
    if (match(macro, /^#define [A-Za-z_0-9]+\([^)]*\)/)) {
        head = substr(macro, 9, RLENGTH - 9)
        body[substr(head, 1, index(head, "(") - 1)] = substr(macro, RLENGTH + 1)
        parameters[substr(head, 1, index(head, "(") - 1)] = substr(head, index(head, "(") + 1)
    }
    return macro !~ /^#define X\(/
}

# A line in which each LIST(X) has become what X makes of its rows.
function expanded(line,    call, list, each, before, after) {
    while (match(line, /LEAT_[A-Z0-9_]+_LIST\([A-Z_]+\)/)) {
        call = substr(line, RSTART, RLENGTH - 1)
        before = substr(line, 1, RSTART - 1)
        after = substr(line, RSTART + RLENGTH)
        sub(/^ */, "", after)
        list = substr(call, 1, index(call, "(") - 1)
        each = substr(call, index(call, "(") + 1)
        line = before rows(list, each) after
    }
    if (line ~ /\n/) { # each constant has a line
        sub(/^ *\n/, "", line)
        sub(/\n +$/, "", line)
        sub(/\n +\};$/, "\n};", line)
        sub(/ \};$/, ",\n};", line)
    }
    return line
}

function rows(list, each,    rest, out, at) {
    rest = body[list]
    gsub(/\\\n/, " ", rest)
    while (match(rest, "[ )]" parameters[list] "\\(")) {
        rest = substr(rest, RSTART + RLENGTH)
        at = closing(rest)
        out = out "\n    " row(each, substr(rest, 1, at - 1))
        rest = " " substr(rest, at + 1)
    }
    return out "\n    "
}

# The place of the parenthesis that closes, outside of strings.
function closing(rest,    at, inner, c, quoted) {
    for (at = 1; at <= length(rest); at++) {
        c = substr(rest, at, 1)
        if (c == "\"")
            quoted = !quoted
        else if (!quoted && c == "(")
            inner++
        else if (!quoted && c == ")" && inner-- == 0)
            break
    }
    return at
}

function row(each, arguments,    argument, parameter, count, i, rest, out, word, remark) {
    count = cut(arguments, argument)
    split(parameters[each], parameter, / *, */)
    rest = body[each]
    while (match(rest, /[A-Za-z_][A-Za-z_0-9]*/)) {
        word = substr(rest, RSTART, RLENGTH)
        for (i = 1; i <= count && parameter[i] != word; i++)
            ;
        out = out substr(rest, 1, RSTART - 1) (i <= count ? argument[i] : word)
        rest = substr(rest, RSTART + RLENGTH)
    }
    out = out rest
    gsub(/##|^ +/, "", out)
    remark = argument[count]
    if (remark ~ /^".*"$/) # what the row says in words
        out = out " /* " substr(remark, 2, length(remark) - 2) " */"
    return out
}

# Cuts arguments at their commas, those of strings apart.
function cut(arguments, argument,    at, c, quoted, count) {
    count = 1
    argument[1] = ""
    for (at = 1; at <= length(arguments); at++) {
        c = substr(arguments, at, 1)
        if (c == "\"")
            quoted = !quoted
        if (c == "," && !quoted)
            argument[++count] = ""
        else if (c != " " || quoted || argument[count] != "")
            argument[count] = argument[count] c
    }
    return count
}

# ---- the page

function end_item() {
    if (!opened && comment != "") {
        open_page()
        prose(comment)
        put(".SH DECLARATIONS")
    } else if (declarations != "") {
        if (comment == "" && declarations !~ /\/\*/) {
            printf "%s:%d: not explained: %s", FILENAME, first_line, declarations > "/dev/stderr"
            failed = 1
        }
        put(".PP")
        literal(declarations)
        if (comment != "") {
            put(".RS 4")
            prose(comment)
            put(".RE")
        }
        aliases(declarations)
    } else if (comment != "") {
        put(".PP")
        prose(comment)
    }
    comment = declarations = ""
    first_line = 0
}

function open_page() {
    opened = 1
    if (!(name in offers)) {
        print FILENAME ": include/README.md has no row for it" > "/dev/stderr"
        failed = 1
    }
    put(".TH " title " 3 \"\" \"leat " version "\" \"leat manual\"")
    put(".SH NAME")
    put(text(title " - ") text(offers[name]))
    put(".SH SYNOPSIS")
    put(".nf")
    put(".B #include <leat/" name ".h>")
    if (libraries[name] != "")
        put(".B " text("cc ... $(pkg-config --cflags --libs " libraries[name] ")"))
    put(".fi")
    put(".SH DESCRIPTION")
}

# Each function has a page that leads to this one.
function aliases(all,    part, count, i, alias) {
    count = split(all, part, ";")
    for (i = 1; i <= count; i++)
        if (match(part[i], /(LEAT_API|static inline) /)) {
            part[i] = substr(part[i], RSTART)
            match(part[i], /[a-z0-9_]+\(/)
            if (substr(part[i], RSTART, 2) == "__") continue # the definition of LEAT_API itself
            alias = folder "/" substr(part[i], RSTART, RLENGTH - 1) ".3"
            print ".so man3/" title ".3" > alias
            close(alias)
        }
}

function prose(words,    line, count, i, kept) {
    count = split(words, line, "\n")
    for (i = 1; i < count; i++) {
        if (line[i] ~ /^  / && !kept) {
            put(".PP")
            put(".EX")
            kept = 1
        } else if (line[i] !~ /^  / && line[i] != "" && kept) {
            put(".EE")
            put(".PP")
            kept = 0
        } else if (line[i] == "" && !kept && line[i + 1] !~ /^  / && i + 1 < count)
            put(".PP")
        if (line[i] != "" || kept && i + 1 < count && line[i + 1] ~ /^  /)
            put(kept ? text(line[i]) : marked(line[i]))
    }
    if (kept)
        put(".EE")
}

# The line for roff, with the words in backquotes in bold.
function marked(line,    part, count, i, out) {
    count = split(line, part, "`")
    if (count % 2 == 0)
        return text(line)
    for (i = 1; i <= count; i++)
        out = out (i % 2 ? text(part[i]) : "\\fB" text(part[i]) "\\fR")
    return out
}

# Declarations as they stand, without LEAT_API and by so much further left.
function literal(lines,    line, count, i, shifted) {
    put(".EX")
    count = split(lines, line, "\n")
    for (i = 1; i < count; i++) {
        sub(/ *$/, "", line[i])
        if (sub(/^LEAT_API /, "", line[i]))
            shifted = 1
        else if (line[i] !~ /^ /)
            shifted = 0
        else if (shifted)
            sub(/^         /, "", line[i])
        put(line[i] ~ /^ |^\}/ ? text(line[i]) : "\\fB" text(line[i]) "\\fR")
    }
    put(".EE")
}

# Characters that roff takes for its own.
function text(line) {
    gsub(/\\/, "\\e", line)
    gsub(/-/, "\\-", line)
    gsub(/`/, "\\(ga", line)
    gsub(/'/, "\\(aq", line)
    gsub(/\^/, "\\(ha", line)
    gsub(/~/, "\\(ti", line)
    sub(/^\./, "\\\\\\&.", line)
    return line
}

# No paragraph right after a heading or another paragraph.
function put(line) {
    if (line == ".PP" && last ~ /^\.(SH|SS|PP|RS)/)
        return
    print line > page
    last = line
}

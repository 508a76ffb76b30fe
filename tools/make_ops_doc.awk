# docs/ops.md from include/heed_ops.h:
#   awk -f tools/make_ops_doc.awk include/heed_ops.h > docs/ops.md
#
# A group is what stands between two empty lines: its comments become text, its declarations code,
# its functions the heading. Indented lines of a comment (formulas, shapes) keep their form.
# SPDX-License-Identifier: MIT

BEGIN {
    print "# Ops"
    print ""
    print "What a model can record: shapes, formulas, sources. Made from `include/heed_ops.h` by"
    print "`tools/make_ops_doc.awk`; change it there. How to add one: [adding.md](adding.md)."
}

/^#ifdef __cplusplus/ { part++ }             # the first opens, the second ends what is told
part != 1 || /^#|^extern "C"|^}$/ { next }

# Ends the open code block, if any.
function close_code() {
    if (code) body = body "```\n"
    code = 0
}
function open_code(kind) {
    if (code) return
    body = body "\n```" kind "\n"
    code = 1
}
function text_line(line) {
    if (line ~ /^  /) {
        open_code("text")
        body = body substr(line, 3) "\n"
        return
    }
    if (code) {
        close_code()
        told = 0
    }
    if (!told) body = body "\n"
    told = 1
    body = body line "\n"
}
function flush_group() {
    close_code()
    if (heading != "") printf "\n## %s\n%s", heading, body
    heading = body = ""
    told = 0
}

/^$/ { flush_group(); next }
/^\/\*/ { comment = 1; if (code) close_code(); told = 0 }
comment {
    line = $0
    sub(/^\/\* ?/, "", line)
    sub(/^ \* ?/, "", line)
    last = sub(/ *\*\/$/, "", line)
    text_line(line)
    if (last) { comment = 0; close_code() }
    next
}
{
    open_code("c")
    told = 0
    line = $0
    if (!sub(/^HEED_API /, "", line)) sub(/^         /, "", line) # keeps what follows aligned
    body = body line "\n"
    if (match(line, /heed_[a-z_]+\(/) && $0 ~ /^HEED_API/)
        heading = heading (heading == "" ? "" : ", ") substr(line, RSTART, RLENGTH - 1)
}
END { flush_group() }

#!/bin/sh
# What the library may call and what it may be called: it never exits, aborts, prints, or takes
# memory past the host, and every name it gives the linker starts with heed_. Looked up in the
# archive, where no macro hides.
# SPDX-License-Identifier: MIT
set -eu
library=${HEED_LIBRARY:?path of libheed.a}
bad=0

forbid() { # why, the only object that may all the same (or none), names
    why=$1 but=$2
    shift 2
    found=$(nm -A --undefined-only "$library" | awk -v names="$*" -v but="$but" '
        BEGIN { n = split(names, list, " "); for (i = 1; i <= n; i++) no[list[i]] = 1 }
        { name = $NF; sub(/@.*/, "", name)
          plain = name; sub(/^__isoc99_/, "", plain); sub(/^__/, "", plain); sub(/_chk$/, "", plain)
          split($1, at, ":")
          if ((name in no || plain in no) && at[2] != but) print "  " at[2] " calls " name }')
    if [ -n "$found" ]; then
        printf '%s:\n%s\n' "$why" "$found"
        bad=1
    fi
}

forbid 'the library never ends the program' '' \
    exit _exit _Exit quick_exit abort __assert_fail raise kill signal sigaction atexit
forbid 'the library never prints' '' \
    printf vprintf puts putchar perror stdout stderr psignal error warn syslog
forbid 'the library takes memory only through the host' mem.c.o \
    malloc calloc realloc aligned_alloc posix_memalign
forbid 'the library takes memory only through the host' '' \
    strdup strndup asprintf vasprintf getline getdelim
forbid 'the library calls nothing with hidden state or without bounds' '' \
    rand srand random srandom drand48 strtok strerror setlocale setenv putenv localtime \
    gmtime ctime asctime basename dirname tmpnam mktemp getpwuid sprintf vsprintf gets strcpy \
    strcat stpcpy atoi atol atof system popen fork umask

strange=$(nm -A --defined-only --extern-only "$library" |
    awk '$NF !~ /^heed_/ { print "  " $1 " " $NF }')
if [ -n "$strange" ]; then
    printf 'names that do not start with heed_:\n%s\n' "$strange"
    bad=1
fi
twice=$(nm --defined-only --extern-only "$library" |
    awk 'NF == 3 { print "  " $3 }' | sort | uniq -d)
if [ -n "$twice" ]; then
    printf 'names defined twice:\n%s\n' "$twice"
    bad=1
fi
if [ "$(nm --defined-only --extern-only "$library" 2>/dev/null | grep -c heed_)" -lt 20 ]; then
    echo "'$library' is not the library: it defines next to nothing"
    bad=1
fi
exit $bad

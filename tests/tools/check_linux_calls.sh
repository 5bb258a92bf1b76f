#!/bin/sh
# check_linux_calls.sh ROOT: prints FILE:LINE:TEXT and exits with 1 if the library, or the program without the server,
# calls Linux elsewhere than in src/base/system.c.
set -eu
cd "$1"
# The server's commands are those that CMakeLists.txt leaves out with EENET_SERVER=OFF.
server=$(grep -o '"/(cmd_(.*\\\\.c\$"' CMakeLists.txt | tr -d '"' | sed 's/\\\\/\\/g')
[ -n "$server" ] || { echo 'CMakeLists.txt: the list of commands without the server was not found'; exit 1; }
words='__linux__|<linux/|<sys/(epoll|eventfd|syscall|prctl|random|inotify|timerfd|signalfd|sysinfo|auxv|statfs)\.h>'
words="$words|_GNU_SOURCE|sched_[gs]etaffinity|madvise|accept4|pipe2|memfd_create|O_TMPFILE|\"/proc/|mallinfo|gettid"
files=$(find include src cli bench python/src -name '*.[ch]' ! -path 'src/serve/*' ! -path src/base/system.c \
    ! -path 'bench/serve/*' | grep -vE "$server")
# shellcheck disable=SC2086 # no file of the tree has a blank in its name
! grep -nE "$words" $files

# in_shells.zsh PROGRAM SCRIPTS: types at bash and at zsh, each at a terminal of its own, and compares the command line
# that the tab key makes of it.
emulate -R zsh
setopt err_exit
zmodload zsh/zpty
typeset program=$1 scripts=$2 shell heard
fail() { print -u2 "in_shells.zsh: $*"; exit 1 }

# A program called eenet prints the words that it is given: what stands on the line when return is typed. It asks the
# real one what may come next.
mkdir bin 'some folder'
touch some.csv
print -r -- '#!/bin/sh
if [ "$1" = complete ]; then exec "$real" "$@"; fi
printf "<%s>" "$@"
echo "<end>"' >bin/eenet
chmod +x bin/eenet
export PATH=$PWD/bin:$PATH real=$program TERM=dumb
export INPUTRC=/dev/null

# Reads what the shell writes until it matches.
hear() {
    zpty -r -m shell heard "$1" || fail "$shell: '$1' did not come, but '$heard'"
}

start() {
    shell=$1
    shift
    zpty shell "$@"
    # The prompt, and not the echo of the command that sets it.
    zpty -w shell "PS1='rea''dy> '"
    hear '*ready> '
}

# expect TYPED WORDS: what the line is after typing, as the program prints it.
expect() {
    zpty -w -n shell "$1"$'\n'
    hear '*<end>*ready> '
    [[ $heard == *"$2<end>"* ]] || fail "$shell: '$1' gave ${(qqqq)heard}, expected $2"
}

# All lines end in return, so each is typed, completed and run.
lines() {
    expect $'eenet desc\tkernelu\t' '<describe><kernelucb>'
    expect $'eenet run --poli\teenet:pa\t' '<run><--policies><eenet:paper>'
    expect $'eenet run -p greedy,squ\t' '<run><-p><greedy,squarecb>'
    expect $'eenet run --set eenet.f1.opt\tadamw\t' '<run><--set><eenet.f1.optimizer=adamw>'
    expect $'eenet run --set=eenet:paper.f1.tra\tg\t' '<run><--set=eenet:paper.f1.training=gd>'
    expect $'eenet run -d synth\tcos\t -T 5' '<run><-d><synthetic:cosine><-T><5>'
    expect $'eenet run -d synthetic:cosine,dr\t3' '<run><-d><synthetic:cosine,drift=3>'
    expect $'eenet run -d table:some.c\t' '<run><-d><table:some.csv>'
    expect $'eenet run -o some\tx' '<run><-o><some folder/x>'
    expect $'true; x=1 eenet run -p unif\t' '<run><-p><uniform>'
}

start bash bash --norc --noprofile -i
zpty -w shell "set +o history; bind 'set enable-bracketed-paste off'; . '$scripts/eenet.bash'"
hear '*ready> '
lines
zpty -d shell

start zsh zsh -f -i
zpty -w shell "fpath=('$scripts' \$fpath); autoload -U compinit && compinit -D -u"
hear '*ready> '
lines
zpty -d shell

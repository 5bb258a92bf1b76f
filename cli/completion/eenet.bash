# Completion of eenet in bash. The program prints the completions: 'eenet complete'.

_eenet() {
    local program=${1/#\~\//$HOME/} words word begun='' breaks=${COMP_WORDBREAKS//[^:=]/} candidate rest path
    # bash also splits words at ':' and '='; read joins them again. The x keeps an empty last word.
    # shellcheck disable=SC2162 # a backslash quotes the next letter, as it does for the shell
    IFS=$' \t\n' read -a words <<<"${COMP_LINE:0:COMP_POINT}x"
    word=${words[-1]%x}
    words[-1]=$word
    # For a word that it splits, bash expects only the last part.
    if [[ $breaks && $word == *["$breaks"]* ]]; then begun=${word%"${word##*["$breaks"]}"}; fi

    COMPREPLY=()
    while IFS=$'\t' read -r candidate rest; do
        case $candidate in
        :files | :folders)
            compopt -o filenames
            while IFS= read -r path; do
                path=$rest$path
                COMPREPLY+=("${path#"$begun"}")
            done < <(compgen -A "$([[ $candidate = :files ]] && echo file || echo directory)" -- "${word#"$rest"}")
            ;;
        *)
            [[ $candidate != *[:=.] ]] || compopt -o nospace
            COMPREPLY+=("${candidate#"$begun"}")
            ;;
        esac
    done < <("$program" complete -- "${words[@]:1}" 2>/dev/null)
}

complete -F _eenet eenet

# Completions of workfile for bash 3.2 and later; `workfile completions bash` prints them.

# The words that go on from what is typed.
_workfile_word() {
    local word
    for word in "$@"; do
        if [[ $word == "$cur"* ]]; then COMPREPLY+=("$word"); fi
    done
}

# The same for the last part of a list with commas.
_workfile_words() {
    local word head='' last=$cur
    if [[ $cur == *,* ]]; then head=${cur%,*},; last=${cur##*,}; fi
    for word in "$@"; do
        if [[ $word == "$last"* ]]; then COMPREPLY+=("$head$word"); fi
    done
}

# Ids of cards, for one word or a list of them.
_workfile_cards() {
    local id title ids
    ids=()
    while IFS=$'\t' read -r id title; do ids+=("$id"); done < <(command workfile __complete cards 2>/dev/null)
    "_workfile_$1" ${ids[@]+"${ids[@]}"}
}

# The shell's own completion of files or folders where it can be asked for, else their names.
_workfile_files() {
    local name
    compopt -o default 2>/dev/null && return
    while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$cur")
}

_workfile_folders() {
    local name
    compopt -o dirnames 2>/dev/null && return
    while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -d -- "$cur")
}

_workfile_paths() {
    local name
    if [[ $cur != *,* ]]; then _workfile_files; return; fi
    compopt -o nospace 2>/dev/null
    while IFS= read -r name; do COMPREPLY+=("${cur%,*},$name"); done < <(compgen -f -- "${cur##*,}")
}

# Counts in `nth` the operands in front of the cursor, from the word $1 on; $2 are the flags that take a value.
# A flag that is being typed is no operand.
_workfile_count() {
    local i
    nth=0
    for ((i = $1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        =) i=$((i + 1)) ;;
        -*) if [[ " $2 " == *" ${COMP_WORDS[i]} "* && ${COMP_WORDS[i + 1]} != = ]]; then i=$((i + 1)); fi ;;
        *) nth=$((nth + 1)) ;;
        esac
    done
    if [[ $cur == -* ]]; then nth=-; fi
}


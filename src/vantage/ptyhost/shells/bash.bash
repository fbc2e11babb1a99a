# Vantage's hooks for bash 4.4 and later. Filled in and written by launch(), read once, then removed.
# Everything a prompt needs is in PS0, PS1 and PS2 themselves (their expansions run in the shell, without a fork);
# PROMPT_COMMAND adds the end mark before the theme's output, and puts the prompts right after the theme set them.
command -p rm -f -- @HERE@
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
    echo "vantage: this is bash $BASH_VERSION, and commands can be followed in 4.4 or later: use another shell" >&2
fi
if [[ @USER_RC@ == 1 && -r ~/.bashrc ]]; then . ~/.bashrc; fi
# The user's options stay out of what is read from here on: aliases would get into our functions, `set -a` would export
# the secret, a trace would show us. They come back at the end.
{
    __vantage_were=("$-" "$BASHOPTS")
    set +aeux
    shopt -u expand_aliases
} 2>/dev/null
{
declare -r __vantage_aid='aid=@SECRET@' __vantage_st=$'\e\\' __vantage_folder=@FOLDER@
# Arrays, because bash cannot export those. n: [0] the cycle, [1] the hook ran for the next prompt, [2] the start mark
# is out, [3] the cycle of a prompt whose hook did not run, [4] nothing. Such a prompt may be one that is never shown:
# bash expands PS1 before every command of a text of several lines. So only the editor's keys make [3] the cycle.
declare -a __vantage_n=(0 0 0 0 '') __vantage_cwd=('') __vantage_rest=('' '' '' '')
declare -a __vantage_ignore=()
# What stands in PROMPT_COMMAND first and last, and what goes around the prompts. Where our variables are missing
# (a nested shell that inherited PS1) all of it expands to nothing. `{ } 2>&1` keeps traces and traps unseen.
declare -ra __vantage_text=(
    '{ __vantage_first; set +H; } >/dev/null 2>&1'
    '{ __vantage_last; } 4>&2 >/dev/null 2>&1'
    '\[${__vantage_aid:+'$'\e'']133;A;$__vantage_aid;n=${__vantage_n[__vantage_n[1]?(__vantage_n[1]=0):(__vantage_n[3]=__vantage_n[0]+1,3)]};st=$?;cwd=${__vantage_cwd[0]};t=${EPOCHREALTIME-}$__vantage_st}\]'
    '\[${__vantage_aid:+'$'\e'']133;B;$__vantage_aid;n=${__vantage_n[__vantage_n[3]?3:0]};st=$?$__vantage_st}\]'
    '${__vantage_aid:+${__vantage_n[__vantage_n[2]++?4:0]:+'$'\e'']133;C;$__vantage_aid;n=${__vantage_n[0]};cwd=${__vantage_cwd[0]};t=${EPOCHREALTIME-}$__vantage_st}}'
    '\[${__vantage_aid:+'$'\e'']133;P;k=s;$__vantage_aid;n=${__vantage_n[0]}$__vantage_st}\]'
)

# Percent-encodes the working directory where it needs it.
__vantage_where() {
    __vantage_cwd[0]=${PWD-}
    [[ ${__vantage_cwd[0]} == *[%\;[:cntrl:]]* ]] || return 0
    local LC_ALL=C __vantage_i __vantage_c __vantage_out=
    for ((__vantage_i = 0; __vantage_i < ${#PWD}; __vantage_i++)); do
        __vantage_c=${PWD:__vantage_i:1}
        case $__vantage_c in
        [%\;[:cntrl:]]) builtin printf -v __vantage_c '%%%02X' "'$__vantage_c" ;;
        esac
        __vantage_out+=$__vantage_c
    done
    __vantage_cwd[0]=$__vantage_out
}

__vantage_first() {
    local - __vantage_status=$?
    set +aefuvxET
    __vantage_n[0]=$((__vantage_n[0] + 1)) __vantage_n[1]=1 __vantage_n[2]=0 __vantage_n[3]=0
    __vantage_where
    __vantage_remember
    if [[ ${PROMPT_COMMAND[0]-} == "${__vantage_text[0]}" ]]; then
        builtin printf '\e]133;D;%s;%s;n=%s;cwd=%s;t=%s\e\\' "$__vantage_status" "$__vantage_aid" \
            "${__vantage_n[0]}" "${__vantage_cwd[0]}" "${EPOCHREALTIME-}" >/dev/tty
        [[ ${PROMPT_COMMAND[-1]} == "${__vantage_text[1]}" ]] && return
    fi
    # Not first any more: $? may be the theme's. The A mark says it right, so there is no D now.
    __vantage_assert
    __vantage_last 4>/dev/tty
}

# Puts our two entries around whatever PROMPT_COMMAND has become.
__vantage_assert() {
    local -a __vantage_theirs=()
    local __vantage_entry
    for __vantage_entry in "${PROMPT_COMMAND[@]}"; do
        __vantage_entry=${__vantage_entry//"${__vantage_text[0]}"/:}
        __vantage_entry=${__vantage_entry//"${__vantage_text[1]}"/:}
        [[ $__vantage_entry == : ]] || __vantage_theirs+=("$__vantage_entry")
    done
    unset -v PROMPT_COMMAND
    PROMPT_COMMAND=("${__vantage_text[0]}" "${__vantage_theirs[@]}" "${__vantage_text[1]}")
}

__vantage_last() {
    local - __vantage_status=$?
    set +aefuvxET
    shopt -s promptvars
    [[ ${PS1-} == "${__vantage_text[2]}"*"${__vantage_text[3]}" ]] || {
        PS1=${PS1-}
        PS1=${PS1//"${__vantage_text[2]}"/}
        PS1=${__vantage_text[2]}${PS1//"${__vantage_text[3]}"/}${__vantage_text[3]}
    }
    [[ ${PS0-} == *"${__vantage_text[4]}" ]] || {
        PS0=${PS0-}
        PS0=${PS0//"${__vantage_text[4]}"/}${__vantage_text[4]}
    }
    [[ ${PS2-} == "${__vantage_text[5]}"* ]] || {
        PS2=${PS2-}
        PS2=${__vantage_text[5]}${PS2//"${__vantage_text[5]}"/}
    }
    __vantage_unseen A "$__vantage_status"
    __vantage_unseen B "$__vantage_status"
}

# The editor and the prompts go to the shell's stderr (4, for those who are called with 2 redirected). Where that is no
# terminal any more, we print what they would have.
__vantage_unseen() {
    [[ ! -t 4 ]] || return 0
    builtin printf '\e]133;%s;%s;n=%s%s;cwd=%s;t=%s\e\\' "$1" "$__vantage_aid" \
        "${__vantage_n[0]}" "${2:+;st=$2}" "${__vantage_cwd[0]}" "${EPOCHREALTIME-}" >/dev/tty
}

# What type_command() wrote: the directory, what to show of a long command, the command. A `cd` that fails is what
# gets typed instead, so that nothing runs in the wrong place.
__vantage_take() {
    if ((__vantage_n[3])); then
        __vantage_n[0]=${__vantage_n[3]} __vantage_n[2]=0 __vantage_n[3]=0
    fi
    [[ ${PROMPT_COMMAND[0]-} == "${__vantage_text[0]}" ]] || __vantage_assert
    builtin mapfile -d '' -t __vantage_in <"$__vantage_folder/command"
    [[ -n ${__vantage_in[0]-} ]] || return 0
    cd -- "${__vantage_in[0]}" || __vantage_in=('' "cd -- ${__vantage_in[0]@Q}" "cd -- ${__vantage_in[0]@Q}")
    __vantage_where
}

# Fills the line editor.
__vantage_load() {
    local -
    set +aefuvxET
    local -a __vantage_in=()
    __vantage_take
    READLINE_LINE=${__vantage_in[2]-}
    READLINE_POINT=${#READLINE_LINE}
    __vantage_unseen C
}

# Too long to draw, in three keys. The first has the editor draw the first line and how many follow. For the second,
# the editor must not wipe that line before it calls us, which it does on terminals that can wipe a line: so the
# terminal is a poor one for a moment, and a new line is what comes. Then the editor's output goes nowhere while it
# gets the whole text, with a first line that puts everything back once the third key has accepted it.
__vantage_long() {
    local -
    set +aefuvxET
    local -a __vantage_in=()
    __vantage_take
    READLINE_LINE=${__vantage_in[1]-}
    READLINE_POINT=${#READLINE_LINE}
    # Traces are off until the line that comes first: the next key cannot hide them.
    local __vantage_traces=
    case $1 in *x*) __vantage_traces='set -x; ' ;; esac
    case $1 in *v*) __vantage_traces+='set -v; ' ;; esac
    __vantage_rest=("${__vantage_in[2]-}" "$TERM" '' "$__vantage_traces")
    TERM=unknown
}
__vantage_hide() {
    local - __vantage_status=$?
    set +aefuvxET
    TERM=${__vantage_rest[1]}
    builtin bind 'set enable-bracketed-paste on'
    __vantage_ignore=(on ${HISTIGNORE+"$HISTIGNORE"})
    HISTIGNORE='*'
    exec {__vantage_rest[2]}>&2 2>/dev/null
    READLINE_LINE="${__vantage_rest[3]}__vantage_show $__vantage_status"$'\n'${__vantage_rest[0]}
    READLINE_POINT=0
}
__vantage_show() {
    local -
    set +aefuvxET
    exec 2>&"${__vantage_rest[2]}" {__vantage_rest[2]}>&-
    # The history gets one entry, not one for each line; nothing else gets in until the next prompt.
    __vantage_remember
    [[ ! -o history ]] || builtin history -s -- "${__vantage_rest[0]}"
    __vantage_ignore=(on ${HISTIGNORE+"$HISTIGNORE"})
    HISTIGNORE='*'
    __vantage_n[2]=0
    builtin printf '\e[?2004l\r%s' "${PS0@P}" >/dev/tty
    __vantage_rest=('' '' '' '')
    return "$1"
}
__vantage_remember() {
    [[ -n ${__vantage_ignore[0]-} ]] || return 0
    if ((${#__vantage_ignore[@]} > 1)); then HISTIGNORE=${__vantage_ignore[1]}; else unset -v HISTIGNORE; fi
    __vantage_ignore=()
}

# Hooks thrown away: back they come, and the next key accepts the empty line, so that a full prompt follows.
__vantage_poke() {
    local -
    set +aefuvxET
    local __vantage_then='""'
    if [[ ${PROMPT_COMMAND[0]-} != "${__vantage_text[0]}" ||
        ${PROMPT_COMMAND[-1]} != "${__vantage_text[1]}" ||
        ${PS1-} != "${__vantage_text[2]}"*"${__vantage_text[3]}" ]]; then
        __vantage_assert
        __vantage_remember
        READLINE_LINE=
        __vantage_then=accept-line
    fi
    builtin bind -m emacs "\"\\e[5203~\": $__vantage_then"
    builtin bind -m vi-insert "\"\\e[5203~\": $__vantage_then"
    builtin bind -m vi-command "\"\\e[5203~\": $__vantage_then"
}

for __vantage_map in emacs vi-insert vi-command; do
    builtin bind -m "$__vantage_map" -x '"\e[5200~": { __vantage_load "$_"; } 4>&2 >/dev/null 2>&1'
    builtin bind -m "$__vantage_map" -x '"\e[5204~": { __vantage_long "$-" "$_"; set +xv; } >/dev/null 2>&1'
    builtin bind -m "$__vantage_map" -x '"\e[5205~": __vantage_hide "$_" >/dev/null'
    builtin bind -m "$__vantage_map" '"\e[5201~": accept-line'
    builtin bind -m "$__vantage_map" -x '"\e[5202~": { __vantage_poke "$_"; } >/dev/null 2>&1'
    builtin bind -m "$__vantage_map" '"\e[5203~": ""'
done
unset -v __vantage_map
builtin bind 'set enable-bracketed-paste on'
__vantage_assert
__vantage_restore() {
    unset -v __vantage_were
    case $2 in *expand_aliases*) shopt -s expand_aliases ;; esac
    case $1 in *e*) set -e ;; esac
    case $1 in *u*) set -u ;; esac
    case $1 in *a*) set -a ;; esac
    case $1 in *x*) set -x ;; esac
}
__vantage_restore "${__vantage_were[@]}"
unset -f __vantage_restore
} 2>/dev/null

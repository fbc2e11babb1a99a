# Vantage's hooks for bash 4.4 and later. Filled in and written by launch(), read once, then removed.
# Everything a prompt needs is in PS0, PS1 and PS2 themselves (their expansions run in the shell, without a fork);
# PROMPT_COMMAND adds the end mark before the theme's output, and puts the prompts right after the theme set them.
command -p rm -f -- @HERE@
if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] < 404)); then
    echo "vantage: this is bash $BASH_VERSION, and commands can be followed in 4.4 or later: use another shell" >&2
fi
if [[ @USER_RC@ == 1 && -r ~/.bashrc ]]; then . ~/.bashrc; fi
# The user's options are switched off while this file is read, and restored at its end: aliases would get into our
# functions, `set -a` would export the secret, a trace would show our commands.
{
    __vantage_were=("$-" "$BASHOPTS")
    set +aeux
    shopt -u expand_aliases
} 2>/dev/null
{
declare -r __vantage_aid='aid=@SECRET@' __vantage_st=$'\e\\' __vantage_folder=@FOLDER@
# Arrays, because bash cannot export those. n: [0] the cycle, [1] the hook ran for the next prompt, [2] the start mark
# is out, [3] the cycle of a prompt whose hook is lost, [4] nothing, [5] the last status, [6] the editor shows the marks
# because PS1 cannot, [7] the last entry of PROMPT_COMMAND ran, [8] prompts are not seen, [9] the editor was given a
# command, [10] `set -v` shows what the keys run, [11] PS1 cannot be expanded, [12] a prompt came after the last command
# began. Only the editor's keys make [3] the cycle.
declare -a __vantage_n=(0 0 0 0 '' 0 0 0 0 0 0 0 0) __vantage_tried=('' 0) __vantage_cwd=('') __vantage_rest=('' '' '' '') __vantage_ignore=() __vantage_pipe=()
# How a prompt is recognised: bash expands PS1 before every command of a text of several lines, and shows that prompt when
# it wants the rest of the last one (`[[ a ==`). So an expansion of PS1 without a run of the installed hook asks for more.
declare -a __vantage_kind=(A 'P;k=s')
# `builtin` or `command`, whichever is not a function of the user's; whether one is.
declare -a __vantage_do=(builtin) __vantage_is=('')
# What stands in PROMPT_COMMAND second and last, and what goes around the prompts. Where our variables are missing (a
# nested shell that inherited PS1) all of it expands to nothing. `{ } 2>&1` keeps traces and traps unseen.
# `set -v` prints what PROMPT_COMMAND holds. The entry before each of ours defines a function that is never called and
# whose name is ESC _ : a terminal takes what is printed up to our next mark for a string that means nothing.
declare -ra __vantage_text=(
    '{ __vantage_first "$-"; "$__vantage_do" set +H; } >/dev/null 2>&1'
    '{ __vantage_last "$?" "$-"; } 4>&2 >/dev/null 2>&1; { ((__vantage_n[7])) || __vantage_last "${__vantage_n[5]}" "$-" 4>&1; } >/dev/null 2>&1'
    '\[${__vantage_aid:+'$'\e'']133;${__vantage_kind[__vantage_n[1]?0:${PROMPT_COMMAND[1]+${#PROMPT_COMMAND[1]}}-0==65]};$__vantage_aid;n=${__vantage_n[__vantage_n[1]?(__vantage_n[1]=0):${PROMPT_COMMAND[1]+${#PROMPT_COMMAND[1]}}-0==65?0:(__vantage_n[3]=__vantage_n[0]+1,3)]};st=$?;cwd=${__vantage_cwd[0]};t=${EPOCHREALTIME-}$__vantage_st}\]'
    '\[${__vantage_aid:+'$'\e'']133;B;$__vantage_aid;n=${__vantage_n[__vantage_n[12]=1,__vantage_n[3]?3:0]};st=$?$__vantage_st}\]'
    '${__vantage_aid:+${__vantage_n[__vantage_n[12]=0,__vantage_n[2]++?4:0]:+'$'\e'']133;C;$__vantage_aid;n=${__vantage_n[0]};cwd=${__vantage_cwd[0]};t=${EPOCHREALTIME-}$__vantage_st}}'
    '\[${__vantage_aid:+'$'\e'']133;P;k=s;$__vantage_aid;n=${__vantage_n[__vantage_n[12]=1,0]}$__vantage_st}\]'
    $'\e_() ((0))'
)

# Finds a way to call builtins that no function of the user's replaces. Where `builtin` and `command` are both functions,
# `builtin` is removed: in POSIX mode `unset` cannot be a function.
__vantage_door() {
    __vantage_is[0]=
    "$__vantage_do" printf -v '__vantage_is[0]' yes
    [[ ${__vantage_is[0]} == yes ]] || {
        __vantage_do[0]=builtin
        builtin printf -v '__vantage_is[0]' yes
    }
    [[ ${__vantage_is[0]} == yes ]] || {
        __vantage_do[0]=command
        command printf -v '__vantage_is[0]' yes
    }
    [[ ${__vantage_is[0]} == yes ]] || {
        __vantage_do[0]=builtin
        if [[ -o posix ]]; then unset -f builtin; else
            POSIXLY_CORRECT=1
            unset -f builtin
            unset -v POSIXLY_CORRECT
        fi
    }
}

# Percent-encodes the working directory where it needs it.
__vantage_where() {
    __vantage_cwd[0]=${PWD-}
    [[ ${__vantage_cwd[0]} != *[%\;[:cntrl:]]* ]] || __vantage_encode
}
__vantage_encode() {
    "$__vantage_do" local LC_ALL=C __vantage_i= __vantage_c= __vantage_out=
    for ((__vantage_i = 0; __vantage_i < ${#PWD}; __vantage_i++)); do
        __vantage_c=${PWD:__vantage_i:1}
        case $__vantage_c in
        [%\;[:cntrl:]]) "$__vantage_do" printf -v __vantage_c '%%%02X' "'$__vantage_c" ;;
        esac
        __vantage_out+=$__vantage_c
    done
    __vantage_cwd[0]=$__vantage_out
}

# Prints a mark to the terminal itself: the shell's own output may be redirected.
__vantage_mark() {
    "$__vantage_do" printf '\e]133;%s;%s;n=%s%s;cwd=%s;t=%s\e\\' "$1" "$__vantage_aid" \
        "${__vantage_n[0]}" "${2:+;st=$2}" "${__vantage_cwd[0]}" "${EPOCHREALTIME-}" >/dev/tty
}

__vantage_first() {
    __vantage_n[5]=$? __vantage_pipe=("${PIPESTATUS[@]}")
    __vantage_door
    "$__vantage_do" local -
    "$__vantage_do" set +aefkuvxET
    ! __vantage_died || __vantage_mend
    __vantage_next
    __vantage_verbose "$1"
    if __vantage_leads; then
        __vantage_mark "D;${__vantage_n[5]}"
        [[ ${PROMPT_COMMAND[-1]} != "${__vantage_text[1]}" ]] || "$__vantage_do" return 0
    fi
    # Another entry runs before ours, so $? may be the theme's. The A mark has the right status, so no D is printed now.
    __vantage_assert
    __vantage_last "${__vantage_n[5]}" "$1" 4>/dev/tty
}
# Whether a command failed, a client has ended it, or a program of its last pipeline was killed (not by SIGPIPE, which
# ends `yes | head`). After a Ctrl-C at a prompt, the editor still has the terminal, and its settings must stay.
__vantage_died() {
    ((!__vantage_n[5] || __vantage_n[5] > 128)) || "$__vantage_do" return 0
    ((__vantage_n[2] && !__vantage_n[12])) || "$__vantage_do" return 1
    ((!__vantage_n[5])) || "$__vantage_do" return 0
    if [[ -s $__vantage_folder/ended ]]; then
        : >|"$__vantage_folder/ended"
        "$__vantage_do" return 0
    fi
    ((${#__vantage_pipe[@]} > 1)) || "$__vantage_do" return 1
    "$__vantage_do" local __vantage_i=
    for __vantage_i in "${__vantage_pipe[@]}"; do
        ((__vantage_i <= 128 || __vantage_i == 141)) || "$__vantage_do" return 0
    done
    "$__vantage_do" return 1
}
# Puts the terminal's settings back that the command began with: the editor would take what is left for the shell's own,
# and so would bash, which remembers what a program that succeeded has set. A Ctrl-C may meet `stty`: then again.
__vantage_mend() {
    "$__vantage_do" local __vantage_was=
    "$__vantage_do" read -r __vantage_was <"$__vantage_folder/settings"
    __vantage_stty "${__vantage_was:-sane}" || __vantage_stty "${__vantage_was:-sane}" || __vantage_stty sane
}
__vantage_stty() {
    if [[ $1 == sane ]]; then
        "$__vantage_do" command -p stty icanon echo isig iexten icrnl opost
    else
        "$__vantage_do" command -p stty "$1"
    fi </dev/tty
}
__vantage_next() {
    __vantage_n[0]=$((__vantage_n[0] + 1)) __vantage_n[1]=1 __vantage_n[2]=0 __vantage_n[3]=0 __vantage_n[7]=0 __vantage_n[9]=0
    __vantage_where
    __vantage_remember
}
__vantage_leads() {
    [[ ${PROMPT_COMMAND[1]-} == "${__vantage_text[0]}" &&
        ( ${PROMPT_COMMAND[0]} == "${__vantage_text[6]}" || ${PROMPT_COMMAND[0]} == : ) ]]
}

# Puts our entries around the current PROMPT_COMMAND. A readonly one stays as it is: PS1 has marks too.
__vantage_assert() {
    "$__vantage_do" local -a __vantage_theirs
    "$__vantage_do" local __vantage_entry=
    __vantage_theirs=()
    for __vantage_entry in "${PROMPT_COMMAND[@]}"; do
        __vantage_entry=${__vantage_entry//"${__vantage_text[0]}"/:}
        __vantage_entry=${__vantage_entry//"${__vantage_text[1]}"/:}
        __vantage_entry=${__vantage_entry//"${__vantage_text[6]}"/:}
        [[ $__vantage_entry == : ]] || __vantage_theirs+=("$__vantage_entry")
    done
    if "$__vantage_do" unset -v PROMPT_COMMAND; then
        PROMPT_COMMAND=("${__vantage_text[6]}" "${__vantage_text[0]}" "${__vantage_theirs[@]}"
            "${__vantage_text[6]}" "${__vantage_text[1]}")
    fi
}

# Where a variable cannot be changed, `printf` fails; an assignment would end the function.
__vantage_set() { "$__vantage_do" printf -v "$1" %s "$2"; }
__vantage_wrapped() { [[ ${PS1-} == "${__vantage_text[2]}"*"${__vantage_text[3]}" ]]; }
__vantage_prompts() {
    "$__vantage_do" local __vantage_was="${PS1-}"
    "$__vantage_do" shopt -s promptvars
    __vantage_wrapped || ((__vantage_n[11])) || {
        __vantage_was=${__vantage_was//"${__vantage_text[2]}"/}
        __vantage_set PS1 "${__vantage_text[2]}${__vantage_was//"${__vantage_text[3]}"/}${__vantage_text[3]}"
    }
    [[ ${PS0-} == *"${__vantage_text[4]}" ]] || {
        __vantage_was=${PS0-}
        __vantage_set PS0 "${__vantage_was//"${__vantage_text[4]}"/}${__vantage_text[4]}"
    }
    [[ ${PS2-} == "${__vantage_text[5]}"* ]] || {
        __vantage_was=${PS2-}
        __vantage_set PS2 "${__vantage_text[5]}${__vantage_was//"${__vantage_text[5]}"/}"
    }
}

__vantage_last() {
    "$__vantage_do" local -
    "$__vantage_do" set +aefkuvxET
    __vantage_n[7]=1
    case $SHELLOPTS in
    *posix*) __vantage_veil : ;;
    *) __vantage_veil "${__vantage_text[6]}" ;;
    esac
    __vantage_sound "$2"
    __vantage_prompts
    if ! __vantage_wrapped; then
        # The editor prints a text of its own before PS1.
        __vantage_mode on "$1"
    elif ((__vantage_n[6])); then
        __vantage_mode off ''
    fi
    __vantage_n[8]=0
    if [[ ! -t 4 ]]; then
        __vantage_n[8]=1
        __vantage_ready "$1"
    elif [[ ${LINES-} == 1 ]]; then
        # In a terminal of one row the editor cuts the prompt to the width, and our marks with it.
        __vantage_ready "$1"
    fi
}
# Sets what stands before our entries: POSIX mode refuses such a name.
__vantage_veil() {
    if __vantage_leads && [[ ${PROMPT_COMMAND[0]} != "$1" ]]; then
        __vantage_set 'PROMPT_COMMAND[0]' "$1"
        [[ ${PROMPT_COMMAND[-2]} != "${__vantage_text[6]}" && ${PROMPT_COMMAND[-2]} != : ]] ||
            __vantage_set 'PROMPT_COMMAND[-2]' "$1"
    fi
}
# A PS1 that cannot be expanded (an error in it; under `set -u` a variable that is not set) is printed by bash as it is
# written, and an open `$(` takes what follows into its command: then our marks stay out of it. Each PS1 is tried once.
__vantage_sound() {
    __vantage_n[11]=0
    "$__vantage_do" local __vantage_was="${PS1-}"
    __vantage_was=${__vantage_was//"${__vantage_text[2]}"/}
    __vantage_was=${__vantage_was//"${__vantage_text[3]}"/}
    if [[ $__vantage_was == *[\$\`]* ]]; then
        if [[ ${1//[!u]/}$__vantage_was != "${__vantage_tried[0]}" ]]; then
            __vantage_tried=("${1//[!u]/}$__vantage_was" 1)
            "$__vantage_do" local __vantage_text_of="\${__vantage_aid:+}$__vantage_was"$'\n#.'
            [[ $1 != *u* ]] || "$__vantage_do" set -u
            __vantage_text_of=${__vantage_text_of@P}
            "$__vantage_do" set +u
            [[ $__vantage_text_of == '${__vantage_aid:+}'* || $__vantage_text_of != *$'\n#.' ]] || __vantage_tried[1]=0
        fi
        if ((__vantage_tried[1])); then
            __vantage_n[11]=1
            ! __vantage_wrapped || __vantage_set PS1 "$__vantage_was"
        fi
    fi
}
__vantage_mode() {
    "$__vantage_do" local __vantage_m="$__vantage_aid;n=${__vantage_n[0]};st=$2\\a"
    __vantage_m="\"\\1\\e]133;A;$__vantage_m\\e]133;B;$__vantage_m\\2\""
    if [[ $1 == on ]]; then
        __vantage_n[1]=0 __vantage_n[6]=1
    else
        __vantage_m='""' __vantage_n[6]=0
    fi
    "$__vantage_do" bind "set show-mode-in-prompt $1"
    "$__vantage_do" bind "set emacs-mode-string $__vantage_m"
    "$__vantage_do" bind "set vi-ins-mode-string $__vantage_m"
    "$__vantage_do" bind "set vi-cmd-mode-string $__vantage_m"
}

# The editor and the prompts go to the shell's stderr (4, where 2 is redirected). Where that is no terminal any more, or
# closed, we print what they would have.
__vantage_ready() {
    __vantage_mark A "$1"
    __vantage_mark B "$1"
}

# Reads the file of type_command(): the directory, the part of a long command to show, the command. If the `cd` fails,
# the `cd` is typed instead of the command, so that nothing runs in the wrong directory.
__vantage_take() {
    if ((__vantage_n[3])); then
        __vantage_n[0]=${__vantage_n[3]} __vantage_n[2]=0 __vantage_n[3]=0
    fi
    __vantage_leads || __vantage_assert
    "$__vantage_do" mapfile -d '' -t __vantage_in <"$__vantage_folder/command"
    __vantage_n[9]=1
    [[ ${__vantage_in[2]-} != *[Pp][Oo][Ss][Ii][Xx]* ]] || __vantage_veil :
    [[ -z ${__vantage_in[0]-} ]] || {
        cd -- "${__vantage_in[0]}" || __vantage_in=('' "cd -- ${__vantage_in[0]@Q}" "cd -- ${__vantage_in[0]@Q}")
        __vantage_where
    }
}

# Fills the line editor.
__vantage_load() {
    __vantage_door
    "$__vantage_do" local -
    "$__vantage_do" set +aefkuvxET
    "$__vantage_do" local -a __vantage_in
    __vantage_take
    READLINE_LINE=${__vantage_in[2]-}
    READLINE_POINT=${#READLINE_LINE}
    ((!__vantage_n[8])) || __vantage_mark C
}

# Too long to draw, in three keys. The first has the editor draw the first line and how many follow. For the second,
# the editor must not wipe that line before it calls us, which it does on terminals that can wipe a line: so the
# terminal is a poor one for a moment, and a new line is what comes. Then the editor's output goes nowhere while it
# gets the whole text, with a first line that puts everything back once the third key has accepted it.
__vantage_long() {
    __vantage_door
    "$__vantage_do" local -
    "$__vantage_do" set +aefkuvxET
    "$__vantage_do" local -a __vantage_in
    __vantage_take
    READLINE_LINE=${__vantage_in[1]-}
    READLINE_POINT=${#READLINE_LINE}
    # Traces are off until the line that comes first: the next key cannot hide them.
    "$__vantage_do" local __vantage_traces=
    case $1 in *x*) __vantage_traces='set -x; ' ;; esac
    case $1 in *v*) __vantage_traces+='set -v; ' ;; esac
    __vantage_rest=("${__vantage_in[2]-}" "$TERM" '' "$__vantage_traces")
    __vantage_set TERM unknown
}
__vantage_hide() {
    __vantage_n[5]=$?
    "$__vantage_do" local -
    "$__vantage_do" set +aefkuvxET
    __vantage_set TERM "${__vantage_rest[1]}"
    "$__vantage_do" bind 'set enable-bracketed-paste on'
    __vantage_forget
    if __vantage_commands; then
        command exec {__vantage_rest[2]}>&2 2>/dev/null
    else
        exec {__vantage_rest[2]}>&2 2>/dev/null
    fi
    READLINE_LINE="${__vantage_rest[3]}__vantage_show ${__vantage_n[5]}"$'\n'${__vantage_rest[0]}
    READLINE_POINT=0
}
__vantage_show() {
    "$__vantage_do" local -
    "$__vantage_do" set +aefkuvxET
    __vantage_back >/dev/null
    # The history gets one entry, not one for each line; nothing else gets in until the next prompt.
    __vantage_remember
    [[ ! -o history ]] || "$__vantage_do" history -s -- "${__vantage_rest[0]}"
    __vantage_forget
    __vantage_n[2]=0
    "$__vantage_do" printf '\e[?2004l\r%s' "${PS0@P}" >/dev/tty
    __vantage_rest=('' '' '' '')
    "$__vantage_do" return "$1"
}
__vantage_back() {
    if __vantage_commands; then
        command exec 2>&"${__vantage_rest[2]}" {__vantage_rest[2]}>&-
    else
        exec 2>&"${__vantage_rest[2]}" {__vantage_rest[2]}>&-
    fi
}
# Whether `command` is not a function: descriptors moved by `builtin exec` would not stay moved.
__vantage_commands() {
    __vantage_is[0]=
    command printf -v '__vantage_is[0]' yes >/dev/null
    [[ ${__vantage_is[0]} == yes ]]
}
# While a long text is read line by line, none of its lines gets into the history.
__vantage_forget() {
    __vantage_ignore=(on ${HISTIGNORE+"$HISTIGNORE"})
    __vantage_set HISTIGNORE '*'
}
__vantage_remember() {
    case ${#__vantage_ignore[@]} in
    0) ;;
    1) "$__vantage_do" unset -v HISTIGNORE ;;
    *) __vantage_set HISTIGNORE "${__vantage_ignore[1]}" ;;
    esac
    __vantage_ignore=()
}

# Restores hooks that were removed; the next key then accepts the empty line, so that a full prompt follows. Where they
# cannot be restored, the marks of the current prompt are printed. Where a command was given and has not begun, or runs
# and only PS2 has no mark, the editor reads the rest of that command.
__vantage_poke() {
    __vantage_n[5]=$?
    __vantage_door
    "$__vantage_do" local -
    "$__vantage_do" set +aefkuvxET
    "$__vantage_do" local __vantage_then='""'
    __vantage_mark K
    if ! __vantage_leads || [[ ${PROMPT_COMMAND[-1]} != "${__vantage_text[1]}" ]] ||
        ! { __vantage_wrapped || ((__vantage_n[6])); }; then
        __vantage_assert
        __vantage_prompts
        __vantage_remember
        READLINE_LINE=
        if __vantage_leads || __vantage_wrapped; then
            __vantage_then=accept-line
        else
            __vantage_next
            __vantage_mark "D;${__vantage_n[5]}"
            __vantage_ready "${__vantage_n[5]}"
        fi
    elif ((__vantage_n[9] && !__vantage_n[2])) || [[ ${PS2-} != "${__vantage_text[5]}"* && ${__vantage_n[2]} != 0 ]]; then
        __vantage_mark 'P;k=s'
    fi
    "$__vantage_do" bind -m emacs "\"\\e[5203~\": $__vantage_then"
    "$__vantage_do" bind -m vi-insert "\"\\e[5203~\": $__vantage_then"
    "$__vantage_do" bind -m vi-command "\"\\e[5203~\": $__vantage_then"
}

# The keys, in every keymap. What `set -v` prints of them is hidden as PROMPT_COMMAND is.
__vantage_bind() {
    "$__vantage_do" local __vantage_map=
    for __vantage_map in emacs vi-insert vi-command; do
        "$__vantage_do" bind -m "$__vantage_map" -x "\"\\e[5200~\": $1"'{ __vantage_load "$_"; } >/dev/null 2>&1'
        "$__vantage_do" bind -m "$__vantage_map" -x "\"\\e[5204~\": $1"'{ __vantage_long "$-" "$_"; "$__vantage_do" set +xv; } >/dev/null 2>&1'
        "$__vantage_do" bind -m "$__vantage_map" -x "\"\\e[5205~\": $1"'__vantage_hide "$_" >/dev/null'
        "$__vantage_do" bind -m "$__vantage_map" -x "\"\\e[5202~\": $1"'{ __vantage_poke "$_"; } >/dev/null 2>&1'
    done
}
__vantage_verbose() {
    __vantage_is[0]=0
    # In the middle of a command that is not whole, bash takes a `{` for a brace only behind another command.
    [[ $1 != *v* && ( ${PS2-} == "${__vantage_text[5]}"* || ${PS2@a} != *r* ) || -o posix ]] || __vantage_is[0]=1
    ((__vantage_n[10] == __vantage_is[0])) || {
        __vantage_n[10]=${__vantage_is[0]}
        if ((__vantage_n[10])); then __vantage_bind "${__vantage_text[6]}; "; else __vantage_bind ''; fi
    }
}
__vantage_bind ''
for __vantage_map in emacs vi-insert vi-command; do
    builtin bind -m "$__vantage_map" '"\e[5201~": accept-line'
    builtin bind -m "$__vantage_map" '"\e[5203~": ""'
    builtin bind -m "$__vantage_map" '"\e[5207~": ""'
done
readonly -f __vantage_door __vantage_died __vantage_mend __vantage_stty __vantage_where __vantage_encode __vantage_mark __vantage_first __vantage_next \
    __vantage_leads __vantage_assert __vantage_set __vantage_wrapped __vantage_prompts __vantage_last __vantage_veil \
    __vantage_sound __vantage_mode __vantage_ready __vantage_take __vantage_load __vantage_long __vantage_hide __vantage_show \
    __vantage_back __vantage_commands __vantage_forget __vantage_remember __vantage_poke __vantage_bind __vantage_verbose
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

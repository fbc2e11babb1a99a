# Vantage's hooks for zsh. Filled in and written by launch(), read once as .zshrc, then removed.
# PS1 stays the theme's alone: D and A are printed by precmd, B and P by the editor's line-init hook, C by preexec.
# Each of them puts the others back, so only losing all of them at once takes a poke.
() { zmodload -F zsh/files b:zf_rm && zf_rm -f -- "$@" || command rm -f -- "$@" } @HERE@ @FOLDER@/.zshenv 2>/dev/null
unset ZDOTDIR
if (( $#__vantage_zdotdir )); then ZDOTDIR=$__vantage_zdotdir[1]; @EXPORT_ZDOTDIR@; fi
unset __vantage_zdotdir
if [[ -n ${HISTFILE-} && $HISTFILE == @FOLDER@/* ]]; then HISTFILE=${ZDOTDIR:-$HOME}/${HISTFILE:t}; fi
if [[ @USER_RC@ == 1 && -r ${ZDOTDIR:-$HOME}/.zshrc ]]; then . "${ZDOTDIR:-$HOME}/.zshrc"; fi

# The user's options are switched off while this file is read, and restored at its end: aliases would get into our
# functions, allexport would export the secret, a trace would show our commands.
{
    zmodload zsh/parameter
    __vantage_were="aliases=${options[aliases]} allexport=${options[allexport]} xtrace=${options[xtrace]}"
    unsetopt aliases allexport xtrace
} 2>/dev/null
# Options and traps do not affect our functions: most begin with `emulate`, and the redirected braces around the hooks
# hide what a trace or a trap prints before that.
() {
    emulate -L zsh
    zmodload zsh/datetime zsh/parameter zsh/mapfile zsh/zle
    typeset -gr __vantage_aid='aid=@SECRET@' __vantage_folder=@FOLDER@
    # Arrays, because those are never exported. The cycle; what is out of its marks; the working directory as marks
    # write it; whether the shell's partial-line mark is ours to print; the rest of a long command.
    typeset -ga __vantage_shut=() __vantage_n=(0) __vantage_out=() __vantage_cwd=('') __vantage_sp=(0) __vantage_rest=()
} 2>/dev/null

# A function of the user's called `builtin` is switched off while ours run; that takes assignments only.
function __vantage_door {
    if (( ${+functions[builtin]} )); then
        dis_functions[builtin]=${functions[builtin]}
        __vantage_shut=(1)
    fi
}
function __vantage_open {
    __vantage_shut=()
    functions[builtin]=${dis_functions[builtin]}
}

# Prints a mark, at most once in a cycle, to the terminal itself: the shell's own output may be redirected.
function __vantage_mark {
    __vantage_out+=($1)
    builtin print -rn -- $'\e]133;'"$1$2;$__vantage_aid;n=$__vantage_n[1]$3"$'\e\\' >/dev/tty
}

function __vantage_encode {
    builtin setopt localoptions extendedglob nomultibyte
    local MATCH MBEGIN MEND
    REPLY=$1
    [[ $REPLY == *[%\;[:cntrl:]]* ]] || builtin return 0
    REPLY=${REPLY//(#m)[%;[:cntrl:]]/%${(l:2::0:)$(([##16]#MATCH))}}
}

function __vantage_where {
    local REPLY
    __vantage_encode "${PWD-}"
    __vantage_cwd=("$REPLY")
}

# Returns the status unchanged, for a precmd of the user's that reads it.
function __vantage_first { { __vantage_end $? "${pipestatus[@]}" } always { (( ${#__vantage_shut} )) && __vantage_open } >/dev/null 2>&1 }
function __vantage_end {
    __vantage_door
    builtin emulate -L zsh; builtin trap - DEBUG ZERR
    # Printed already, and no line was read since: the other of the two hooks ran first.
    (( $__vantage_out[(I)D] && ! $__vantage_out[(I)B] )) && builtin return $1
    # After a mark of the editor no command has begun.
    local -i ran=$(( ! $__vantage_out[(I)B] ))
    __vantage_n=($((__vantage_n[1] + 1)))
    __vantage_out=()
    __vantage_where
    (( ran )) && __vantage_died "$@" && __vantage_mend
    __vantage_mark D ";$1" ";cwd=$__vantage_cwd[1];t=$EPOCHREALTIME"
    # The partial-line mark, which zsh would print before any hook and so into the block, comes now instead.
    (( __vantage_sp[1] )) && builtin print -rn -- "${(l:COLUMNS:: :):-}"$'\r' >/dev/tty
    builtin return $1
}

# Whether the command failed, a client has ended it, or a program of its last pipeline was killed (not by SIGPIPE, which
# ends `yes | head`).
function __vantage_died {
    local each
    (( $1 )) && builtin return 0
    if [[ -s $__vantage_folder/ended ]]; then
        : >|$__vantage_folder/ended
        builtin return 0
    fi
    for each in "${@:2}"; do (( each > 128 && each != 141 )) && builtin return 0; done
    builtin return 1
}
# Puts the terminal's settings back that the command began with: the editor would take what is left for the shell's own,
# and so would zsh, which remembers what a program that succeeded has set. A Ctrl-C may meet `stty`: then again.
function __vantage_mend {
    local was
    builtin read -r was <$__vantage_folder/settings
    __vantage_stty ${was:-sane} || __vantage_stty ${was:-sane} || __vantage_stty sane
}
function __vantage_stty {
    if [[ $1 == sane ]]; then
        builtin command -p stty icanon echo isig iexten icrnl opost
    else
        builtin command -p stty $1
    fi </dev/tty
}

function __vantage_last { { __vantage_prompt $?; __vantage_options } always { (( ${#__vantage_shut} )) && __vantage_open } >/dev/null 2>&1 }
function __vantage_prompt {
    __vantage_door
    builtin emulate -L zsh; builtin trap - DEBUG ZERR
    __vantage_mark A '' ";st=$1;cwd=$__vantage_cwd[1];t=$EPOCHREALTIME"
    __vantage_assert
}

# Options that must last cannot be set under `emulate -L`. Without the editor no command could come in.
function __vantage_options {
    if [[ -o prompt_sp && -o prompt_cr ]]; then __vantage_sp=(1); builtin unsetopt prompt_sp; fi
    builtin setopt interactive_comments no_bang_hist zle
}

function __vantage_preexec { { __vantage_start "$1" } always { (( ${#__vantage_shut} )) && __vantage_open } >/dev/null 2>&1 }
function __vantage_start {
    __vantage_door
    builtin emulate -L zsh; builtin trap - DEBUG ZERR
    local REPLY=
    if (( $#1 && $#1 < 1024 )); then
        __vantage_encode "$1"
        REPLY=";cmd=$REPLY"
    fi
    __vantage_mark C '' ";cwd=$__vantage_cwd[1];t=$EPOCHREALTIME$REPLY"
    __vantage_out=()
}

# The prompt (or the continuation prompt) is drawn, the editor reads keys. The user's hook of that name comes first.
function __vantage_line_init { { __vantage_init $? } always { (( ${#__vantage_shut} )) && __vantage_open } >/dev/null 2>&1 }
function __vantage_init {
    __vantage_door
    (( $+widgets[__vantage_their_init] )) && builtin zle __vantage_their_init -w
    __vantage_ready $1
}
function __vantage_ready {
    builtin emulate -L zsh; builtin trap - DEBUG ZERR
    case $CONTEXT in
    cont) __vantage_mark P ';k=s' ;;
    start)
        # No D, or a D of an earlier line: precmd was removed.
        (( $__vantage_out[(I)B] )) && __vantage_out=()
        (( $__vantage_out[(I)D] )) || __vantage_end $1
        (( $__vantage_out[(I)A] )) || __vantage_prompt $1
        __vantage_mark B '' ";st=$1"
        ;;
    esac
}

# precmd_functions run after a function called precmd: the user's is called from ours, after the mark. Ours is there
# also when the user has none, for `precmd_functions=()`: the prompt would be printed before the end of the command is.
function __vantage_precmd { __vantage_first; __vantage_their_precmd "$@" }
function __vantage_precmd_alone { { __vantage_first } >/dev/null 2>&1 }

# Restores every hook; cheap enough for every prompt.
function __vantage_assert {
    builtin emulate -L zsh; builtin setopt extendedglob
    local map
    [[ ${(t)precmd_functions} == *readonly* ]] ||
        precmd_functions=(__vantage_first ${precmd_functions:#__vantage_(first|last)} __vantage_last)
    [[ ${(t)preexec_functions} == *readonly* ]] ||
        preexec_functions=(${preexec_functions:#__vantage_preexec} __vantage_preexec)
    case ${functions[precmd]-} in
    "$functions[__vantage_precmd]" | "$functions[__vantage_precmd_alone]") ;;
    '') functions[precmd]=$functions[__vantage_precmd_alone] ;;
    *)
        functions[__vantage_their_precmd]=$functions[precmd]
        functions[precmd]=$functions[__vantage_precmd]
        ;;
    esac
    for map in load long poke nothing cancel; do builtin zle -N __vantage_$map; done
    if [[ ${widgets[zle-line-init]-} != user:__vantage_line_init ]]; then
        if [[ -n ${widgets[zle-line-init]-} ]]; then builtin zle -A zle-line-init __vantage_their_init; fi
        builtin zle -N zle-line-init __vantage_line_init
    fi
    for map in main emacs viins vicmd; do
        builtin bindkey -M $map '\e[5200~' __vantage_load '\e[5204~' __vantage_long \
            '\e[5202~' __vantage_poke '\e[5203~' __vantage_nothing '\e[5207~' __vantage_nothing \
            '\e[5206~' __vantage_cancel
    done
}

# Reads the file of type_command(): the directory, the part of a long command to show, the command. If the `cd` fails,
# the `cd` is typed instead of the command. It runs under the user's options, as it would when typed.
function __vantage_take {
    __vantage_read
    if [[ -n $__vantage_to ]]; then
        cd -- "$__vantage_to" || { __vantage_text="cd -- ${(q)__vantage_to}"; __vantage_head=$__vantage_text }
    fi
}
function __vantage_read {
    builtin emulate -L zsh
    builtin zmodload zsh/mapfile zsh/parameter zsh/datetime
    local -a parts=("${(@0)mapfile[$__vantage_folder/command]}")
    __vantage_to=$parts[1] __vantage_head=$parts[2] __vantage_text=$parts[3]
}

function __vantage_load { { __vantage_fill } always { (( ${#__vantage_shut} )) && __vantage_open } >/dev/null 2>&1 }
function __vantage_fill {
    __vantage_door
    local __vantage_to __vantage_head __vantage_text
    __vantage_take
    __vantage_accept "$__vantage_text"
}

# Too long to draw: the editor is given the first line and how many follow, and only when it has drawn that and left
# the line (its line-finish hook, after which it draws no more), what is to be run.
function __vantage_long { { __vantage_fill_long } always { (( ${#__vantage_shut} )) && __vantage_open } >/dev/null 2>&1 }
function __vantage_fill_long {
    __vantage_door
    local __vantage_to __vantage_head __vantage_text
    __vantage_take
    __vantage_rest=("$__vantage_text")
    if (( $+widgets[zle-line-finish] )); then builtin zle -A zle-line-finish __vantage_their_finish; fi
    builtin zle -N zle-line-finish __vantage_line_finish
    __vantage_accept "$__vantage_head"
}
function __vantage_line_finish { { __vantage_swap } always { (( ${#__vantage_shut} )) && __vantage_open } >/dev/null 2>&1 }
function __vantage_swap {
    __vantage_door
    if (( $+widgets[__vantage_their_finish] )); then
        builtin zle -A __vantage_their_finish zle-line-finish
        builtin zle -D __vantage_their_finish
        builtin zle zle-line-finish -w
    else
        builtin zle -D zle-line-finish
    fi
    builtin zle -I
    BUFFER="${__vantage_rest[@]}"
    __vantage_rest=()
}
function __vantage_accept {
    builtin emulate -L zsh; builtin trap - DEBUG ZERR
    __vantage_where
    BUFFER=$1
    CURSOR=$#BUFFER
    builtin zle .accept-line
}

function __vantage_poke { { __vantage_repair } always { (( ${#__vantage_shut} )) && __vantage_open } >/dev/null 2>&1 }
function __vantage_repair {
    __vantage_door
    builtin emulate -L zsh; builtin trap - DEBUG ZERR
    builtin print -rn -- $'\e]133;K;'"$__vantage_aid;n=$__vantage_n[1]"$'\e\\' >/dev/tty
    # `vared` and `select` read with the same editor: no command may be typed there.
    [[ $CONTEXT == start ]] && (( ! $__vantage_out[(I)B] )) || builtin return 0
    __vantage_assert
    BUFFER=
    builtin zle .accept-line
}
function __vantage_nothing { : }
# A continuation prompt is left as Ctrl-C would, but without a signal, which would be lost while a hook runs.
function __vantage_cancel { { __vantage_leave } always { (( ${#__vantage_shut} )) && __vantage_open } >/dev/null 2>&1 }
function __vantage_leave {
    __vantage_door
    [[ $CONTEXT == cont ]] && builtin zle .send-break
}

__vantage_options
__vantage_assert
{
    case $__vantage_were in *aliases=on*) setopt aliases ;; esac
    case $__vantage_were in *allexport=on*) setopt allexport ;; esac
    case $__vantage_were in
    *xtrace=on*) unset __vantage_were; setopt xtrace ;;
    *) unset __vantage_were ;;
    esac
} 2>/dev/null

# Vantage's hooks for a plain sh (dash, ash). Filled in and written by launch(), read once through ENV, then removed.
# There is no hook but PS1: its expansion prints D, A and B, and counts. Without a line editor a command comes as a
# file (see type_command) that shows the command, prints C, evaluates it, and puts PS1 right if it was replaced.
command -p rm -f -- @HERE@
@RESTORE_ENV@
if [ @USER_RC@ = 1 ] && [ -n "${ENV-}" ]; then
    eval "set -- \"$ENV\""
    if [ -r "$1" ]; then . "$1"; fi
    set --
fi
{
    __vantage_were=$-
    set +a
    __vantage_aid='aid=@SECRET@' __vantage_folder=@FOLDER@ __vantage_n=0 __vantage_x= __vantage_next= __vantage_status=0
    __vantage_special= __vantage_last= __vantage_a= __vantage_command= __vantage_done=
    __vantage_st=$(printf '\033\\')
    __vantage_esc=$(printf '\033]133;')
    readonly __vantage_aid __vantage_folder __vantage_st __vantage_esc
} 2>/dev/null

# Calls a builtin or a program past functions and aliases of the user's. Where `command` is a function too, a program is
# called by its path: no function can have such a name.
__vantage_run() {
    case $__vantage_command in
    yes) \command -p "$@" ;;
    *) /usr/bin/env PATH=/usr/local/bin:/usr/bin:/bin "$@" ;;
    esac
}
__vantage_door() {
    __vantage_command=
    \command eval __vantage_command=yes >/dev/null 2>&1
}

# A working directory with bytes that marks cannot carry: percent-encoded here, and left out by PS1's own expansion.
__vantage_look() {
    __vantage_special=
    case ${PWD-} in *[%\;[:cntrl:]]*) __vantage_special=$(__vantage_encode) ;; esac
}
__vantage_encode() (
    LC_ALL=C
    rest=$PWD
    while __vantage_run [ -n "$rest" ]; do
        next=${rest#?}
        this=${rest%"$next"}
        case $this in
        [%\;] | [[:cntrl:]]) __vantage_run printf '%%%02X' "'$this" ;;
        *) __vantage_run printf %s "$this" ;;
        esac
        rest=$next
    done
)

# `set -a` must not export what the prompts count with.
__vantage_private() {
    set +a
    set -- "$__vantage_n" "$__vantage_x" "$__vantage_next" "$__vantage_a" "$__vantage_last"
    unset __vantage_n __vantage_x __vantage_next __vantage_a __vantage_last __vantage_special __vantage_status \
        __vantage_command __vantage_done
    __vantage_n=$1 __vantage_x=$2 __vantage_next=$3 __vantage_a=$4 __vantage_last=$5 __vantage_special=
}

__vantage_mark() {
    __vantage_run printf '%s%s;%s;n=%s%s%s' \
        "$__vantage_esc" "$1" "$__vantage_aid" "$__vantage_n" "${2-}" "$__vantage_st" >/dev/tty
}

# Takes the last status, the directory and what to show; leaves in next what is to be done.
__vantage_before() {
    __vantage_a=
    case $- in *a*) __vantage_a=a ;; esac
    __vantage_private
    __vantage_door
    __vantage_status=$1
    case $- in *e*) __vantage_status=0 ;; esac
    __vantage_run stty echo </dev/tty
    __vantage_next=run
    case $(@SHELL@ -n "$__vantage_folder/command" 2>&1) in
    *'end of file'* | *nterminated* | *'EOF in'*) __vantage_next=more ;;
    '')
        if __vantage_run [ -s "$__vantage_folder/more" ]; then
            case $(@SHELL@ -n "$__vantage_folder/more" 2>&1) in '') __vantage_next=more ;; esac
        fi
        ;;
    esac
    case $__vantage_next:$2 in
    run:?*)
        if ! cd -- "$2" >/dev/null; then
            __vantage_next=cd
            set -- "$1" "$2" "cd -- '$2'"
        fi
        ;;
    esac
    __vantage_run printf '%s\n' "$3" >/dev/tty
    case $__vantage_next in
    more) __vantage_mark 'P;k=s' ;;
    *)
        __vantage_look
        __vantage_mark C ";cwd=${__vantage_special:-${PWD-}}"
        ;;
    esac
    case $__vantage_a in a) set -a ;; esac
}

# Returns the status that the command is to see in $?. Its caller passes the value for $_ as an argument.
__vantage_again() {
    return "$__vantage_status"
}

# Ends the command. Traces stay off until the next one begins: they would show the line that starts it.
__vantage_over() {
    __vantage_status=$1 __vantage_last=$2 __vantage_done=
    __vantage_x=
    case $- in *v*) __vantage_x='set -v;' ;; esac
    case $- in *x*) __vantage_x=$__vantage_x'set -x;' ;; esac
    case $__vantage_x in
    ?*)
        set +xv
        __vantage_x=$__vantage_x'
'
        ;;
    esac
    case $- in *e*) __vantage_status=0 ;; esac
    case $- in *a*) __vantage_a=a; set +a ;; *) __vantage_a= ;; esac
    __vantage_door
    if __vantage_died "$1"; then __vantage_mend; fi
}

# Whether the command failed, or a client has ended it.
__vantage_died() {
    case $1 in 0) ;; *) return 0 ;; esac
    __vantage_run [ -s "$__vantage_folder/ended" ] || return 1
    : >|"$__vantage_folder/ended"
}
# Puts the terminal's settings back that the command began with. A Ctrl-C may meet `stty`: then again.
__vantage_mend() {
    __vantage_was=
    __vantage_run read -r __vantage_was <"$__vantage_folder/settings"
    case $__vantage_was in
    ?*) __vantage_run stty "$__vantage_was" || __vantage_run stty "$__vantage_was" ;;
    *) __vantage_run stty icanon echo isig iexten icrnl opost ;;
    esac </dev/tty
}

# Puts our marks around the prompts again, wherever they are now. The prompt goes to stderr (here 4). Where that is no
# longer a terminal, or PS1 is readonly, we print what the prompt would have printed.
__vantage_after() {
    __vantage_done=yes
    __vantage_look
    case $PS1 in
    "$__vantage_ps1"*"$__vantage_ps1b") ;;
    *) (PS1=) && __vantage_wrap ;;
    esac
    case $PS2 in
    "$__vantage_ps2"*) ;;
    *) (PS2=) && PS2=$__vantage_ps2$PS2 ;;
    esac
    case $PS1 in
    "$__vantage_ps1"*"$__vantage_ps1b")
        if ! __vantage_run [ -t 4 ]; then
            __vantage_prompt
            # PS1 counts too when the shell expands it, though it is not shown.
            __vantage_n=$((__vantage_n - 1))
        fi
        ;;
    *) __vantage_prompt ;;
    esac
}
__vantage_wrap() {
    case $PS1 in *"$__vantage_ps1"*) PS1=${PS1%%"$__vantage_ps1"*}${PS1#*"$__vantage_ps1"} ;; esac
    case $PS1 in *"$__vantage_ps1b"*) PS1=${PS1%%"$__vantage_ps1b"*}${PS1#*"$__vantage_ps1b"} ;; esac
    PS1=$__vantage_ps1$PS1$__vantage_ps1b
}
__vantage_prompt() {
    __vantage_n=$((__vantage_n + 1))
    __vantage_mark "D;$__vantage_status" ";cwd=${__vantage_special:-${PWD-}}"
    __vantage_mark A ";st=$__vantage_status"
    __vantage_mark B ";st=$__vantage_status"
}
# Where stderr is closed, 4 could not be opened, and the function before this one did not run.
__vantage_end() {
    case $__vantage_done in '') __vantage_after 4>/dev/null ;; esac
    case $__vantage_a in a) set -a ;; esac
    return "$__vantage_status"
}

__vantage_poke() {
    __vantage_over "$1" "$__vantage_last"
    __vantage_run stty echo </dev/tty
}

{
    # Where our variables are missing (a nested shell that inherited PS1), all of it expands to nothing.
    __vantage_ps1='${__vantage_aid:+${__vantage_esc}D;$?;$__vantage_aid;n=$((__vantage_n+=1));cwd='
    __vantage_ps1=$__vantage_ps1'${PWD##*[%;[:cntrl:]]*}$__vantage_special'
    __vantage_ps1=$__vantage_ps1'$__vantage_st${__vantage_esc}A;$__vantage_aid;n=$__vantage_n;st=$?$__vantage_st}'
    __vantage_ps1b='${__vantage_aid:+${__vantage_esc}B;$__vantage_aid;n=$__vantage_n;st=$?$__vantage_st}'
    __vantage_ps2='${__vantage_aid:+${__vantage_esc}P;k=s;$__vantage_aid;n=$__vantage_n$__vantage_st}'
    readonly __vantage_ps1 __vantage_ps1b __vantage_ps2
    __vantage_over 0 ''
    __vantage_after 4>/dev/tty
    case $__vantage_were in *a*) unset __vantage_were; set -a ;; *) unset __vantage_were ;; esac
} 2>/dev/null

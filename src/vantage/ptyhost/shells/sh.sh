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
    __vantage_special= __vantage_last= __vantage_a=
    __vantage_st=$(printf '\033\\')
    __vantage_esc=$(printf '\033]133;')
    readonly __vantage_aid __vantage_folder __vantage_st __vantage_esc
} 2>/dev/null

# A working directory with bytes that marks cannot carry: percent-encoded here, and left out by PS1's own expansion.
__vantage_look() {
    __vantage_special=
    case $PWD in *[%\;[:cntrl:]]*) __vantage_special=$(__vantage_encode) ;; esac
}
__vantage_encode() (
    LC_ALL=C
    rest=$PWD
    while [ -n "$rest" ]; do
        next=${rest#?}
        this=${rest%"$next"}
        case $this in
        [%\;] | [[:cntrl:]]) printf '%%%02X' "'$this" ;;
        *) printf %s "$this" ;;
        esac
        rest=$next
    done
)

# `set -a` must not export what the prompts count with.
__vantage_private() {
    set +a
    set -- "$__vantage_n" "$__vantage_x" "$__vantage_next" "$__vantage_a" "$__vantage_last"
    unset __vantage_n __vantage_x __vantage_next __vantage_a __vantage_last __vantage_special __vantage_status
    __vantage_n=$1 __vantage_x=$2 __vantage_next=$3 __vantage_a=$4 __vantage_last=$5 __vantage_special=
}

__vantage_mark() {
    printf '%s%s;%s;n=%s%s%s' "$__vantage_esc" "$1" "$__vantage_aid" "$__vantage_n" "${2-}" "$__vantage_st" >/dev/tty
}

# Takes the last status, the directory and what to show; leaves in next what is to be done.
__vantage_before() {
    __vantage_a=
    case $- in *a*) __vantage_a=a ;; esac
    __vantage_private
    __vantage_status=$1
    case $- in *e*) __vantage_status=0 ;; esac
    command -p stty echo </dev/tty
    __vantage_next=run
    case $(@SHELL@ -n "$__vantage_folder/command" 2>&1) in
    *'end of file'* | *nterminated* | *'EOF in'*) __vantage_next=more ;;
    '')
        if [ -s "$__vantage_folder/heredoc" ] && [ -z "$(@SHELL@ -n "$__vantage_folder/heredoc" 2>&1)" ]; then
            __vantage_next=more
        fi
        ;;
    esac
    if [ "$__vantage_next" = run ] && [ -n "$2" ] && ! cd -- "$2" >/dev/null; then
        __vantage_next=cd
        set -- "$1" "$2" "cd -- '$2'"
    fi
    printf '%s\n' "$3" >/dev/tty
    if [ "$__vantage_next" = more ]; then
        __vantage_mark 'P;k=s'
    else
        __vantage_look
        __vantage_mark C ";cwd=${__vantage_special:-$PWD}"
    fi
    case $__vantage_a in a) set -a ;; esac
}

# The status the command is to see in $?; what it is to see in $_ comes as an argument.
__vantage_again() {
    return "$__vantage_status"
}

__vantage_after() {
    __vantage_status=$1 __vantage_last=$2
    __vantage_x=
    case $- in
    *x*)
        set +x
        __vantage_x='set -x
'
        ;;
    esac
    case $- in *e*) __vantage_status=0 ;; esac
    case $- in *a*) __vantage_a=a; set +a ;; *) __vantage_a= ;; esac
    __vantage_look
    case $PS1 in
    *"$__vantage_ps1"*"$__vantage_ps1b") ;;
    *) PS1=$__vantage_ps1$PS1$__vantage_ps1b ;;
    esac
    case $PS2 in
    *"$__vantage_ps2"*) ;;
    *) PS2=$__vantage_ps2$PS2 ;;
    esac
    # The prompt goes to stderr (here 4): where that is no terminal any more, we print what it would have.
    if [ ! -t 4 ]; then
        __vantage_n=$((__vantage_n + 1))
        __vantage_mark "D;$__vantage_status" ";cwd=${__vantage_special:-$PWD}"
        __vantage_mark A ";st=$__vantage_status"
        __vantage_mark B ";st=$__vantage_status"
        # PS1 counts too, unseen.
        __vantage_n=$((__vantage_n - 1))
    fi
    case $__vantage_a in a) set -a ;; esac
    return "$__vantage_status"
}

__vantage_poke() {
    command -p stty echo </dev/tty
    __vantage_after "$1" "$__vantage_last"
}

{
    # Where our variables are missing (a nested shell that inherited PS1), all of it expands to nothing.
    __vantage_ps1='${__vantage_aid:+${__vantage_esc}D;$?;$__vantage_aid;n=$((__vantage_n+=1));cwd='
    __vantage_ps1=$__vantage_ps1'${PWD##*[%;[:cntrl:]]*}$__vantage_special'
    __vantage_ps1=$__vantage_ps1'$__vantage_st${__vantage_esc}A;$__vantage_aid;n=$__vantage_n;st=$?$__vantage_st}'
    __vantage_ps1b='${__vantage_aid:+${__vantage_esc}B;$__vantage_aid;n=$__vantage_n;st=$?$__vantage_st}'
    __vantage_ps2='${__vantage_aid:+${__vantage_esc}P;k=s;$__vantage_aid;n=$__vantage_n$__vantage_st}'
    readonly __vantage_ps1 __vantage_ps1b __vantage_ps2
    __vantage_after 0 '' 4>/dev/tty
    case $__vantage_were in *a*) unset __vantage_were; set -a ;; *) unset __vantage_were ;; esac
} 2>/dev/null

# Vantage's hooks for fish. Filled in and written by launch(), read once (after the user's config), then removed.
# fish's own events carry the marks: a theme can replace fish_prompt but not take the handlers away. fish_prompt is
# wrapped, and wrapped again when somebody redefined it.
command rm -f -- @HERE@
set -g fish_greeting
# A guess at what else could be typed would be drawn into what is typed.
set -q fish_autosuggestion_enabled; or set -g fish_autosuggestion_enabled 0
# Erased first: a variable of that name in the environment would stay exported.
set -e __vantage_aid; set -e __vantage_n; set -e __vantage_out; set -e __vantage_failed; set -e __vantage_rest; set -e __vantage_leaving
set -gu __vantage_aid 'aid=@SECRET@'
set -gu __vantage_folder @FOLDER@
set -gu __vantage_n 0
set -gu __vantage_out
set -gu __vantage_failed
set -gu __vantage_rest
set -gu __vantage_leaving

function __vantage_encode
    if string match -qr '[%;[:cntrl:]]' -- $argv[1]
        string escape --style=url -- $argv[1]
    else
        printf %s $argv[1]
    end
end

function __vantage_mark -a kind before after
    set -ga __vantage_out $kind
    printf '\e]133;%s%s;%s;n=%s%s\e\\' $kind $before $__vantage_aid $__vantage_n $after
end

function __vantage_end --on-event fish_postexec
    set -l last $status
    if set -q __vantage_leaving[1]
        set -g __vantage_leaving
        return
    end
    set -q __vantage_failed[1]; and set last $__vantage_failed[1]
    set -g __vantage_failed
    set -g __vantage_n (math $__vantage_n + 1)
    set -g __vantage_out
    __vantage_mark D ";$last" ";cwd="(__vantage_encode $PWD) >/dev/tty
end

# A shell that is about to leave says no more; should it stay after all, its next prompt will.
function exit --description 'Exit the shell'
    set -g __vantage_leaving 1
    builtin exit $argv
end

function __vantage_begin --on-event fish_prompt
    set -l last $status
    # No end of a command came before: an empty line, a cancelled one, or the first prompt.
    if not contains D $__vantage_out; or contains B $__vantage_out
        __vantage_status $last
        __vantage_end
    end
    string match -q '*__vantage_prompt*' -- (functions fish_prompt); and return
    functions -e __vantage_their_prompt
    functions -q fish_prompt; and functions -c fish_prompt __vantage_their_prompt
    function fish_prompt --description 'Write out the prompt'
        __vantage_prompt
    end
end

function __vantage_status
    return $argv[1]
end

function __vantage_prompt
    set -l last $status
    __vantage_mark A '' ";st=$last;cwd="(__vantage_encode $PWD)
    if functions -q __vantage_their_prompt
        __vantage_status $last
        __vantage_their_prompt
    else
        printf '> '
    end
    __vantage_mark B '' ";st=$last"
end

function __vantage_start --on-event fish_preexec
    set -l cmd
    if not string match -q ' … # *' -- "$argv[1]"; and test (string length -- "$argv[1]") -lt 1024
        set cmd ";cmd="(__vantage_encode "$argv[1]")
    end
    __vantage_mark C '' ";cwd="(__vantage_encode $PWD)$cmd >/dev/tty
end

# What type_command() wrote: the directory, what to show of a long command, the command. A `cd` that fails is what
# gets typed instead.
function __vantage_load -a long
    set -l parts (string split0 <$__vantage_folder/command)
    if test -n "$parts[1]"; and not cd -- $parts[1] >/dev/null 2>&1
        set parts[3] "cd -- "(string escape -- $parts[1])
        set long
    end
    commandline -r -- $parts[3]
    commandline --is-valid
    set -l valid $status
    string match -qr '\S' -- $parts[3]; or set valid empty
    switch $valid
        case empty
        case 0
            # Too long to draw: what is typed is a function that evaluates the text in the scope of its caller, with
            # a comment that says what runs. The space keeps that out of the history, where fish cannot put the text.
            if test -n "$long"
                set -g __vantage_rest $parts[3]
                commandline -r -- " … # $parts[2]"
            end
        case 2
            # The editor would open another line and wait for the rest.
            __vantage_mark P ';k=s' >/dev/tty
            commandline -r ''
        case '*'
            # The editor would stay in the line: the words it has for it are the output, and the line is dropped.
            commandline -r ''
            printf '%s\n' $parts[3] >/dev/tty
            __vantage_mark C '' ";cwd="(__vantage_encode $PWD) >/dev/tty
            set -l self (status fish-path)
            printf '%s\n' $parts[3] | $self --no-config --no-execute >/dev/tty 2>&1
            set -g __vantage_failed $status
            __vantage_end
    end
    commandline -f execute
end

function … --no-scope-shadowing
    eval $__vantage_rest
end

# An interrupt that comes while the prompt is made leaves a part of it or none: \e[5202~ has it made again.
for mode in default insert visual
    bind -M $mode \e\[5200~ __vantage_load
    bind -M $mode \e\[5204~ '__vantage_load long'
    bind -M $mode \e\[5202~ repaint
    bind -M $mode \e\[5203~ true
end

# Vantage's hooks for fish. Filled in and written by launch(), read once (after the user's config), then removed.
# fish's own events carry the marks: a theme can replace fish_prompt but not take the handlers away. fish_prompt is
# wrapped, and wrapped again when it was redefined.
# Builtins are called by `builtin`, which cannot be a function.
builtin set -g fish_greeting
# Autosuggestions are off: fish would draw them into the command line.
builtin set -q fish_autosuggestion_enabled; or builtin set -g fish_autosuggestion_enabled 0
if builtin test -e @HERE@
    # Erased first: a variable of that name in the environment would stay exported.
    for name in aid folder n out failed rest leaving stopped runs dead was left stty hooks
        builtin set -e __vantage_$name
    end
    builtin set -gu __vantage_hooks (builtin string collect <@HERE@)
    builtin set -gu __vantage_n 0
    command rm -f -- @HERE@
end
# The keys evaluate this file again where a function was erased. An existing count is kept; else it starts here.
builtin set -q __vantage_n; or builtin set -gu __vantage_n (command date +%s)
builtin set -gu __vantage_aid 'aid=@SECRET@'
builtin set -gu __vantage_folder @FOLDER@
builtin set -gu __vantage_out
builtin set -gu __vantage_failed
builtin set -gu __vantage_rest
builtin set -gu __vantage_leaving
builtin set -gu __vantage_stopped
builtin set -q __vantage_stty; or builtin set -gu __vantage_stty (builtin command -s stty; or builtin printf /bin/stty)
builtin set -q __vantage_was; or builtin set -gu __vantage_was
builtin set -gu __vantage_left
builtin set -gu __vantage_dead
builtin set -gu __vantage_runs

function __vantage_encode
    if builtin string match -qr '[%;[:cntrl:]]' -- $argv[1]
        builtin string escape --style=url -- $argv[1]
    else
        builtin printf %s $argv[1]
    end
end

function __vantage_mark -a kind before after
    builtin set -ga __vantage_out $kind
    builtin printf '\e]133;%s%s;%s;n=%s%s\e\\' $kind $before $__vantage_aid $__vantage_n $after
end

function __vantage_end --on-event fish_postexec
    builtin set -l last $status
    if builtin set -q __vantage_leaving[1]
        builtin set -g __vantage_leaving
        return
    end
    builtin set -q __vantage_failed[1]; and builtin set last $__vantage_failed[1]
    builtin set -g __vantage_failed
    builtin jobs -q; and __vantage_stops $last "$argv[1]"; and builtin set last 148
    builtin test $last = 0; and builtin set -q __vantage_left[1]; and builtin set -g __vantage_was $__vantage_left
    builtin set -g __vantage_left
    builtin set -g __vantage_dead
    builtin set -g __vantage_runs
    builtin set -g __vantage_n (builtin math $__vantage_n + 1)
    builtin set -g __vantage_out
    __vantage_mark D ";$last" ";cwd="(__vantage_encode $PWD) >/dev/tty
end

# fish takes the settings that a command leaves when its last program has ended, and sets them for every later program.
# The other hooks run after that and see the editor's settings. So this one puts them back, after a program that failed
# or was killed. After one that succeeded it notes what `stty` has set, if the command names it: __vantage_end keeps it.
function __vantage_mend --on-process-exit 0
    builtin set -q __vantage_runs[1]; or return
    builtin test "$argv[3]" != 0; and builtin set -g __vantage_dead 1
    builtin test -s $__vantage_folder/ended; and builtin set -g __vantage_dead 1
    builtin set -q __vantage_dead[1]; or builtin test $__vantage_runs = sets; or return
    # Not while a job has the terminal: what ended was in the background, or one program of a pipeline.
    builtin read -l -d ' ' _1 _2 _3 _4 _5 _6 _7 group _9 </proc/$fish_pid/stat
    builtin contains -- "$group" (builtin jobs -g 2>/dev/null); and return
    builtin set -l runs $__vantage_runs
    builtin set -g __vantage_runs
    if builtin set -q __vantage_dead[1]
        builtin set -g __vantage_dead
        builtin set -l was $__vantage_was
        if not builtin set -q was[1]
            builtin set was isig
            builtin test -r $__vantage_folder/settings; and builtin read was <$__vantage_folder/settings
        end
        $__vantage_stty $was </dev/tty >/dev/null 2>&1; or $__vantage_stty $was </dev/tty >/dev/null 2>&1
    else
        builtin set -g __vantage_left ($__vantage_stty -g </dev/tty 2>/dev/null)
    end
    builtin set -g __vantage_runs $runs
end

# Whether a command was stopped: fish itself gives the status 0. A job that was stopped before counts only if `fg`
# continued it and it was stopped again.
function __vantage_stops -a last cmd
    builtin set -l before $__vantage_stopped
    builtin set -g __vantage_stopped (builtin jobs | builtin string replace -rf '^\d+\t(\d+)\t.*\tstopped\t.*' '$1')
    builtin test $last = 0; or return 1
    for group in $__vantage_stopped
        builtin contains -- $group $before; or return 0
    end
    builtin string match -qr '^\s*fg\b' -- $cmd; and builtin test "$before" = "$__vantage_stopped"; and builtin set -q before[1]
end

# A shell that is about to exit prints no mark; if it stays after all, its next prompt prints it.
function exit --description 'Exit the shell'
    builtin set -g __vantage_leaving 1
    builtin exit $argv
end

function __vantage_begin --on-event fish_prompt
    builtin set -l last $status
    # No end of a command came before: an empty line, a cancelled one, or the first prompt.
    if not builtin contains D $__vantage_out; or builtin contains B $__vantage_out
        __vantage_status $last
        __vantage_end
    end
    __vantage_wrap
    __vantage_narrow $last
    builtin bind \e\[5200~ >/dev/null 2>&1; or __vantage_keys
end

# On fewer than four columns fish draws nothing, not even a prompt. A resize may come after the event of a prompt and
# before the prompt is drawn: then the poke that follows prints the marks.
function __vantage_narrow -a last
    builtin test "$COLUMNS" -lt 4; or return
    __vantage_mark A '' ";st=$last;cwd="(__vantage_encode $PWD) >/dev/tty
    __vantage_mark B '' ";st=$last" >/dev/tty
end

function __vantage_wrap
    builtin string match -q '*__vantage_prompt*' -- (builtin functions fish_prompt); and return
    builtin functions -e __vantage_their_prompt
    builtin functions -q fish_prompt; and builtin functions -c fish_prompt __vantage_their_prompt
    function fish_prompt --description 'Write out the prompt'
        __vantage_prompt
    end
end

function __vantage_status
    return $argv[1]
end

function __vantage_prompt
    builtin set -l last $status
    # Programs of a prompt leave the terminal alone: it has the editor's settings.
    builtin set -g __vantage_runs
    __vantage_mark A '' ";st=$last;cwd="(__vantage_encode $PWD)
    if builtin functions -q __vantage_their_prompt
        __vantage_status $last
        __vantage_their_prompt
    else
        builtin printf '> '
    end
    __vantage_mark B '' ";st=$last"
end

function __vantage_start --on-event fish_preexec
    builtin set -l cmd
    builtin set -l text "$argv[1]"
    builtin string match -q ' … # *' -- "$text"; and builtin set text "$__vantage_rest"
    builtin set -g __vantage_runs yes
    builtin string match -qr '\b(?:stty|tset|reset)\b' -- "$text"; and builtin set -g __vantage_runs sets
    if not builtin string match -q ' … # *' -- "$argv[1]"; and builtin test (builtin string length -- "$argv[1]") -lt 1024
        builtin set cmd ";cmd="(__vantage_encode "$argv[1]")
    end
    __vantage_mark C '' ";cwd="(__vantage_encode $PWD)$cmd >/dev/tty
end

# Reads the file of type_command(): the directory, the part of a long command to show, the command. If the `cd` fails,
# the `cd` is typed instead of the command.
function __vantage_load -a long
    builtin set -l parts (builtin string split0 <$__vantage_folder/command)
    if builtin test -n "$parts[1]"; and not cd -- $parts[1] >/dev/null 2>&1
        builtin set parts[3] "cd -- "(builtin string escape -- $parts[1])
        builtin set long
    end
    builtin commandline -r -- $parts[3]
    builtin commandline --is-valid
    builtin set -l valid $status
    builtin string match -qr '\S' -- $parts[3]; or builtin set valid empty
    # A line that ends in a continuation, with nothing after it.
    builtin string match -qr '(?<!\\\\)(\\\\\\\\)*\\\\\z' -- $parts[3]; and builtin set valid 2
    switch $valid
        case empty
        case 0
            # Too long to draw: what is typed is a function that evaluates the text in the scope of its caller, with
            # a comment that says what runs. The space keeps that out of the history, where fish cannot put the text.
            if builtin test -n "$long"
                builtin set -g __vantage_rest $parts[3]
                builtin commandline -r -- " … # $parts[2]"
            end
        case 2
            # The editor would open another line and wait for the rest.
            __vantage_mark P ';k=s' >/dev/tty
            builtin commandline -r ''
        case '*'
            # The editor would refuse the line and stay in it: its error message is the output, and the line is dropped.
            builtin commandline -r ''
            builtin printf '%s\n' $parts[3] >/dev/tty
            __vantage_mark C '' ";cwd="(__vantage_encode $PWD) >/dev/tty
            builtin set -l self (builtin status fish-path)
            builtin printf '%s\n' $parts[3] | $self --no-config --no-execute >/dev/tty 2>&1
            builtin set -g __vantage_failed $status
            __vantage_end
    end
    builtin commandline -f execute
end

function … --no-scope-shadowing
    eval $__vantage_rest
end

# An interrupt that comes while the prompt is made leaves a part of it or none: \e[5202~ has it made again. Where our
# functions were erased, it puts them back and says that the command is over.
function __vantage_poke
    builtin set -l last $status
    if builtin set -q argv[1]
        __vantage_status $last
        __vantage_end
        __vantage_wrap
    end
    builtin printf '\e]133;K;%s;n=%s\e\\' $__vantage_aid $__vantage_n >/dev/tty
    __vantage_narrow $last
    builtin commandline -f repaint
end

function __vantage_keys
    for mode in default insert visual
        builtin bind -M $mode \e\[5200~ 'builtin functions -q __vantage_{load,mark,encode}; or eval $__vantage_hooks; __vantage_load'
        builtin bind -M $mode \e\[5204~ 'builtin functions -q __vantage_{load,mark,encode}; or eval $__vantage_hooks; __vantage_load long'
        builtin bind -M $mode \e\[5202~ '
            builtin set -l last $status; builtin set -l lost
            if not builtin functions -q __vantage_{poke,end,mend,begin,narrow,wrap,start,prompt,status,mark,encode,stops,load,keys}
                eval $__vantage_hooks
                builtin set lost 1
            end
            __vantage_status $last
            __vantage_poke $lost'
        builtin bind -M $mode \e\[5203~ true
        builtin bind -M $mode \e\[5207~ true
    end
end
__vantage_keys

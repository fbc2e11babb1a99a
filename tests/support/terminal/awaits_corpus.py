"""Programs in two states: waiting for input at a terminal, and doing or awaiting anything else.

Each is run by an interactive bash with job control, as `bash -ic` runs a command. `ready` is what it prints before the
state is looked at; an empty text means at once.
"""

import sys
from dataclasses import dataclass
from shlex import quote

PYTHON = quote(sys.executable)


@dataclass(frozen=True)
class Case:
    name: str
    command: str
    awaits: str
    """`secret`, `line`, `key`; `no`, or `unknown` for programs that pass input on."""
    ready: str = ""


def _python(program: str) -> str:
    return f"{PYTHON} -c {quote(program)}"


def _node(program: str) -> str:
    return f"node -e {quote(program)}"


_RAW = "import sys, tty, os, time; tty.setraw(0); "
_SAY = "print('ready', flush=True); "

WAITING = [
    Case("python input()", _python("input('name? ')"), "line", "name? "),
    Case("python sys.stdin", _python(f"import sys; {_SAY}sys.stdin.readline()"), "line", "ready"),
    Case("python getpass", _python("import getpass; getpass.getpass()"), "secret", "Password: "),
    Case("bash read", "read -p 'name? ' name", "line", "name? "),
    Case("bash script that reads", "bash -c 'read -p \"name? \" name; echo $name'", "line", "name? "),
    Case("bash read -s", "bash -c 'read -s -p \"pin? \" pin; :'", "secret", "pin? "),
    Case("bash read -n 1", "bash -c 'read -n 1 -p \"key? \" key; :'", "key", "key? "),
    Case("read with a sleep beside it", "bash -c 'sleep 1000 & read -p \"name? \" x; kill $!'", "line", "name? "),
    Case("cat", "cat", "line"),
    Case("cat | grep", "cat | grep x", "line"),
    Case("sort", "sort", "line"),
    Case("wc", "wc", "line"),
    Case("tee", "tee /dev/null", "line"),
    Case("awk", "awk '{ print $1 }'", "line"),
    Case("perl", "perl -e '$| = 1; print \"name? \"; <STDIN>'", "line", "name? "),
    Case("rm -i", "touch removed; rm -i removed", "line", "remove"),
    Case("ed", "ed -p 'ed> '", "line", "ed> "),
    Case("ssh-keygen", "ssh-keygen -t ed25519", "line", "Enter file"),
    Case("make that asks", "make -f asks.mk", "line", "name? "),
    Case("python REPL", f"{PYTHON} -q -i", "key", ">>> "),
    Case("python debugger", f"{PYTHON} -m pdb asks.py", "key", "(Pdb) "),
    Case("ipython", "ipython --no-banner --no-confirm-exit", "key", "In ["),
    Case("node REPL", "node -i", "key", "> "),
    Case(
        "node readline",
        _node(
            "require('readline').createInterface({input: process.stdin, output: process.stdout}).question('name? ',"
            "()=>{})"
        ),
        "key",
        "name? ",
    ),
    Case("sqlite3", "sqlite3", "key", "sqlite> "),
    Case("gdb", "gdb -q -nx", "key", "(gdb) "),
    Case("bc", "bc -q", "key"),
    Case("tclsh", "tclsh", "line", "% "),
    Case("dash", "dash -i", "line", "# "),
    Case("bash in bash", "PS1='inner> ' bash --norc -i", "key", "inner> "),
    Case("zsh", "PS1='inner> ' zsh -f", "key", "inner> "),
    Case("fish", "fish --no-config", "key"),
    Case("vim", "vim -u NONE asks.py", "key", "asks.py"),
    Case("nano", "nano -I asks.py", "key", "Exit"),
    Case("less", "less long.txt", "key", "line 7"),
    Case("a pipe into less", "cat long.txt | less", "key", "line 7"),
    Case("more", "more long.txt", "key", "More"),
    Case("man", "MANPAGER=less man ./page.1", "key", "PAGE"),
    Case("git log", "git -c core.pager='less -+F' log", "key", "commit"),
    Case("git commit", "git -c core.editor='vim -u NONE' commit -n --allow-empty", "key", "Please enter"),
    Case("htop", "htop", "key", "Load average"),
    Case("top", "top", "key", "load average"),
    Case("dialog yesno", "dialog --yesno Sure? 7 30", "key", "Sure?"),
    Case("dialog menu", "dialog --menu Which 12 40 3 a one b two", "key", "Which"),
    Case("dialog password", "dialog --passwordbox Secret 8 40", "key", "Secret"),
    Case("fzf", "printf 'one\\ntwo\\n' | fzf", "key", "2/2"),
    Case("mc", "mc -u --nosubshell -c", "key", "Help"),
    Case("curses", _python("import curses; curses.wrapper(lambda s: (s.addstr('ready'), s.getch()))"), "key", "ready"),
    Case("select", _python(f"import select; {_SAY}select.select([0], [], [])"), "line", "ready"),
    Case("select for five seconds", f'{PYTHON} -c "$LOOPS" 5', "line", "ready"),
    Case("poll", _python(f"import select; p = select.poll(); p.register(0, 1); {_SAY}p.poll()"), "line", "ready"),
    Case(
        "epoll",
        _python(f"import select; p = select.epoll(); p.register(0, select.EPOLLIN); {_SAY}p.poll()"),
        "line",
        "ready",
    ),
    Case(
        "asyncio",
        _python(
            f"import asyncio\nloop = asyncio.new_event_loop(); loop.add_reader(0, print); {_SAY}loop.run_forever()"
        ),
        "line",
        "ready",
    ),
    Case("raw keys", _python(f"{_RAW}os.write(1, b'ready'); os.read(0, 1)"), "key", "ready"),
    Case(
        "threads that rest",
        _python(
            "import threading, time; threading.Thread(target=time.sleep, args=(1000,), daemon=True).start();"
            "threading.Thread(target=threading.Event().wait, daemon=True).start(); input('name? ')"
        ),
        "line",
        "name? ",
    ),
    Case("a file opened as /dev/tty", _python(f"f = open('/dev/tty'); {_SAY}f.readline()"), "line", "ready"),
]

_SERVER = "import socket; s = socket.create_server(('127.0.0.1', 0)); "

NOT_WAITING = [
    Case("sleep", "sleep 1000", "no"),
    Case("yes", "yes > /dev/null", "no"),
    Case("a flood", "yes", "no"),
    Case("python computes", _python(f"{_SAY}\nwhile True: pass"), "no", "ready"),
    Case("node computes", _node("console.log('ready'); while (true) ;"), "no", "ready"),
    Case("bash computes", "echo ready; while :; do :; done", "no", "ready"),
    Case("dd", "dd if=/dev/zero of=/dev/null", "no"),
    Case("gzip", "gzip < /dev/zero > /dev/null", "no"),
    Case("bash wait", "bash -c 'sleep 1000 & echo ready; wait'", "no", "ready"),
    Case("a reader behind, a sleep in front", "cat & sleep 1000", "no"),
    Case("sleep | cat", "sleep 1000 | cat", "no"),
    Case("sleep | sort", "sleep 1000 | sort", "no"),
    Case("sleep | less", "sleep 1000 | less", "no"),
    Case("sleep | fzf --filter", "sleep 1000 | fzf --filter x", "no"),
    Case("tail -f", "tail -f long.txt", "no", "line 200"),
    Case("tail -f of nothing", "tail -f /dev/null", "no"),
    Case("timeout", "timeout 1000 sleep 1000", "no"),
    Case("make -j", "make -j4 -f works.mk", "no"),
    Case("a fifo", "mkfifo pipe; cat pipe", "no"),
    Case("flock", "touch lock; exec 9< lock; flock 9; flock lock true", "no"),
    Case("python sleeps", _python(f"import time; {_SAY}time.sleep(1000)"), "no", "ready"),
    Case("python waits for a child", _python("import subprocess; subprocess.run(['sleep', '1000'])"), "no"),
    Case("python reads a child's output", _python("import subprocess; subprocess.getoutput('sleep 1000')"), "no"),
    Case("python waits for a thread", _python(f"import threading; {_SAY}threading.Event().wait()"), "no", "ready"),
    Case("python waits for a signal", _python(f"import signal; {_SAY}signal.pause()"), "no", "ready"),
    Case("asyncio sleeps", _python("import asyncio; asyncio.run(asyncio.sleep(1000))"), "no"),
    Case("accept", _python(f"{_SERVER}{_SAY}s.accept()"), "no", "ready"),
    Case("http.server", f"{PYTHON} -u -m http.server 0 --bind 127.0.0.1", "no", "Serving"),
    Case(
        "node server",
        _node("require('http').createServer().listen(0, '127.0.0.1', ()=>console.log('ready'))"),
        "no",
        "ready",
    ),
    Case(
        "a client without an answer",
        _python(f"{_SERVER}c = socket.create_connection(s.getsockname()); {_SAY}c.recv(1)"),
        "no",
        "ready",
    ),
    Case("a loop with a short select", f'{PYTHON} -c "$LOOPS" 0.6', "no", "ready"),
    Case(
        "node with a timer and stdin",
        _node("process.stdin.resume(); setInterval(()=>{}, 50); console.log('ready')"),
        "no",
        "ready",
    ),
    Case(
        "a thread computes while another asks",
        _python(
            "import threading\ndef f():\n    while True: pass\nthreading.Thread(target=f, daemon=True).start()\n"
            "input('name? ')"
        ),
        "no",
        "name? ",
    ),
    Case(
        "a process computes while another asks",
        "bash -c 'yes > /dev/null & read -p \"name? \" x; kill $!'",
        "no",
        "name? ",
    ),
    Case(
        "a pipe and the terminal together",
        "sleep 1000 | " + _python(f"import select; {_SAY}select.select([0, open('/dev/tty')], [], [])"),
        "no",
        "ready",
    ),
    Case(
        "a thread serves while another asks",
        _python(f"{_SERVER}import threading; threading.Thread(target=s.accept, daemon=True).start(); input('name? ')"),
        "no",
        "name? ",
    ),
    Case("echo off and asleep", "stty -echo; sleep 1000", "no"),
    Case("raw and asleep", _python(f"{_RAW}os.write(1, b'ready'); time.sleep(1000)"), "no", "ready"),
    Case(
        "poll for a hangup only",
        _python(f"import select; p = select.poll(); p.register(0, select.POLLHUP); {_SAY}p.poll()"),
        "no",
        "ready",
    ),
    Case(
        "select to write, asleep",
        _python(f"import select, time; select.select([], [1], []); {_SAY}time.sleep(1000)"),
        "no",
        "ready",
    ),
    Case("find", "find / -xdev -name nothing-has-this-name -o -path '*' > /dev/null; sleep 1000", "no"),
    Case("git waits for a hook", "git commit --allow-empty -m x", "no", "hook"),
    Case(
        "npm-like parent with pipes",
        _node("require('child_process').spawn('sleep', ['1000'], {stdio: 'pipe'}); console.log('ready')"),
        "no",
        "ready",
    ),
    Case(
        "sqlite3 computes",
        "sqlite3 :memory: 'with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n'",
        "no",
    ),
]

PROXIES = [
    Case("script", "script -q -c 'echo ready; cat' /dev/null", "unknown", "ready"),
    Case("pty.spawn", _python("import pty; pty.spawn(['sh', '-c', 'echo ready; cat'])"), "unknown", "ready"),
    Case("tmux", "tmux -L corpus -f /dev/null new-session 'echo ready; cat'", "unknown", "ready"),
    Case("a terminal for others", _python("import os; os.openpty(); input('name? ')"), "unknown", "name? "),
    Case(
        "stdin and a socket",
        _python(f"{_SERVER}import select; {_SAY}select.select([0, s], [], [])"),
        "unknown",
        "ready",
    ),
    Case(
        "node with a server and stdin",
        _node(
            "process.stdin.resume(); require('http').createServer().listen(0, '127.0.0.1', ()=>console.log('ready'))"
        ),
        "unknown",
        "ready",
    ),
]

LOOPS = """
import select, sys
print('ready', flush=True)
while not select.select([0], [], [], float(sys.argv[1]))[0]: pass
"""
"""$LOOPS: waits for a line again and again, so many seconds each time."""

FILES = {
    "asks.py": "name = input('name? ')\nprint(name)\n",
    "asks.mk": "all:\n\t@bash -c 'read -p \"name? \" name'\n",
    "works.mk": "all: a b c d\na b c d:\n\t@yes > /dev/null\n",
    "long.txt": "".join(f"line {number}\n" for number in range(1, 201)),
    "page.1": ".TH PAGE 1\n.SH NAME\npage\n" + "text\n.br\n" * 200,
}

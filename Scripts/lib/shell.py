# SPDX-License-Identifier: MIT
"""What the bash 3.2 of every Mac, and its tools of BSD, do not know: patterns, each with what to do instead."""

import re

# pattern, a line that it must find, what to do instead. The examples are looked for in every run.
BASH = [
    (r"\b(?:mapfile|readarray)\b", "mapfile -t lines < file", "read in a loop"),
    (r"\b(?:declare|local|typeset|readonly)\s+-\w*[Anglu]", "declare -A seen", "bash 3.2 has no such variables"),
    (r"\$\{!?\w+(?:\[[^]]*\])?(?:,,?|\^\^?|@[A-Za-z]\})", "${name,,}", "use tr"),
    (r"(?:\[\[?|\btest)\s+(?:!\s+)?-[vR]\s", "[[ -v name ]]", 'ask [ -n "${name+set}" ]'),
    (r"&>>|\|&|;;?&(?!\w)", "command &>> log", "write >> log 2>&1, and end every case with ;;"),
    (r"\bwait\s+-[np]\b", "wait -n", "wait for a process by its number"),
    (r"\bcoproc\b", "coproc program", "use a named pipe"),
    (r"(?<!\$)\{[a-z_]+\}[<>]", "exec {log}> file", "name the descriptor by a number"),
    (r"\$\{\w+(?:\[[@*]\])?:[^:}]+:\s*-", "${name:0:-1}", "write ${name%?}"),
    (r"\$\{\w+\[-\d", "${list[-1]}", "count from the front"),
    (r"\{\w+\.\.\w+\.\.\w+\}", "{1..9..2}", "count in a loop"),
    (r"%\([^)]*\)T", "printf '%(%F)T'", "use date"),
    (r"\b(?:EPOCHSECONDS|EPOCHREALTIME|BASHPID|SRANDOM)\b", "$EPOCHSECONDS", "use date, or $SECONDS"),
    (r"\bshopt\s+-s\s+(?:globstar|lastpipe|inherit_errexit)", "shopt -s globstar", "bash 3.2 has no such option"),
    (r"\bread\b[^|;]*\s-(?:\w*[Ni]\b|t\s*(?:0?\.\d|0\b))", "read -N 3 text", "read whole lines, wait whole seconds"),
    (r"\[\[[^]]*=~[^]]*[()|]", "[[ $name =~ ^(a|b)$ ]]", "use case: versions of bash read this differently"),
]
TOOLS = [
    (r"(?:^\s*|[;|&(]\s*|\bthen\s+|\bexec\s+)timeout\s", "timeout 60 program", "use bounded"),
    (r"\b(?:nproc|md5sum|sha\d+sum|tac|setsid|taskset|ionice|free|realpath)\b(?=\s|\)|$)", "n=$(nproc)",
     "no Mac, or not every one, has this"),
    (r"\breadlink\s+-\w*[fem]", "readlink -f path", "use cd and pwd -P"),
    (r"\bsed\s+(?:-[nE]+\s+)*(?:-\w*[irsz]|--)", "sed -i s/a/b/ file", "write another file; write -E for -r"),
    (r"\b(?:e?grep)\s+(?:-\w+\s+)*-\w*[PZ]", "grep -oP x", "use sed or awk"),
    (r"\b(?:grep|sed)\b[^|]*\\[bwWsSdD<>+?]", r"grep -E '\bx'", "write a class such as [[:space:]], and use -E"),
    (r"\bstat\s+(?:-c|--|-f)", "stat -c %s file", "use wc -c, or find"),
    (r"\bdate\s+(?:-[dIr]|--|[^|;)]*%N)", "date -d yesterday", "use +FORMAT only, with whole seconds"),
    (r"\bsort\s+(?:-\w+\s+)*-\w*[VhR]", "sort -V", "compare numbers by hand"),
    (r"\bxargs\s+(?:-\w+\s+)*(?:-\w*[rda]\b|--)", "xargs -r rm", "test for nothing first"),
    (r"\bmktemp\b(?!\s+(?:-d\s+)?\"?[\w$])|\bmktemp\s.*--", "mktemp -d", "name a template"),
    (r"\b(?:head|tail)\s+(?:-[nc]\s*-\d|--)", "head -n -1", "use sed '$d'"),
    (r"\bfind\s+-|\bfind\b.*\s-(?:printf|regextype|quit)\b", "find . -printf %p", "name a folder; use -print"),
    (r"\becho\s+-[en]", "echo -e text", "use printf"),
    (r"\b(?:ls|cp|mv|du|ps|wc|tr|cut|rm|mkdir|ln|uname|id|touch|chmod)\s+(?:-\w+\s+)*--\w", "ls --all",
     "long options are of GNU"),
    (r"\bdu\s+-\w*b|\bcp\s+-\w*[tTu]\b|\bln\s+-\w*[rT]\b", "du -b file", "this option is of GNU"),
    (r"/proc/", "cat /proc/meminfo", "only Linux has it"),
]
RULES = [("bash", *rule) for rule in BASH] + [("tools", *rule) for rule in TOOLS]

# An array that may be empty is an unbound variable to bash before 4.4, unless it is written as ${name[@]+"${name[@]}"}.
ELEMENTS = re.compile(r"(?<!\[@\]\+\")(?<!\[\*\]\+\")\$\{(\w+)\[[@*]\]\}")
EMPTY = re.compile(r"\b(\w+)=\(\s*\)")


def without_comments(text):
    """Comments are blanked; lines stay. A number sign counts at the beginning of a word only."""
    return re.sub(r"(?m)^\s*#.*$|(?<=\s)#\s.*$", "", text)


def violations(text, shared=""):
    """Line, what was found, advice. `shared` is the text of what the script sources."""
    text = without_comments(text)
    maybe_empty = set(EMPTY.findall(text)) | set(EMPTY.findall(without_comments(shared)))
    for number, line in enumerate(text.split("\n"), 1):
        for _, pattern, _, advice in RULES:
            if match := re.search(pattern, line):
                yield number, match.group().strip(), advice
        for match in ELEMENTS.finditer(line):
            if match.group(1) in maybe_empty:
                name = match.group(1)
                yield number, match.group(), f'{name} may be empty: write ${{{name}[@]+"${{{name}[@]}}"}}'


def examples():
    """The patterns that miss their own example: the list would look for nothing."""
    for _, pattern, example, _ in RULES:
        if not re.search(pattern, example):
            yield f"{pattern} does not find {example}"
    if [what for _, what, _ in violations('list=()\nf "${list[@]}" ${list[@]+"${list[@]}"}')] != ["${list[@]}"]:
        yield "arrays that may be empty are not told from others"

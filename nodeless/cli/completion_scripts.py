"""Completion scripts for bash, zsh and fish, written from the argument parser."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

# What an argument takes, by the word that stands for it in the help.
FILES, FOLDERS, CLUSTERS, RELEASES, EITHER, NOTHING = "files", "folders", "clusters", "releases", "either", ""
KINDS = {"DIR": FOLDERS, "CLUSTER": CLUSTERS, "VERSION": RELEASES, "CLUSTER | FROM TO": EITHER}


@dataclass(frozen=True, slots=True)
class Argument:
    """An option, or what comes without one; it takes a kind of value, or one of some words."""

    names: tuple[str, ...]
    help: str
    takes: str
    choices: tuple[str, ...]
    repeats: bool


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb with its arguments."""

    name: str
    help: str
    arguments: tuple[Argument, ...]

    @property
    def options(self) -> tuple[Argument, ...]:
        """Return the arguments that have a name."""
        return tuple(each for each in self.arguments if each.names)

    @property
    def positional(self) -> Argument | None:
        """Return what comes without a name, if anything does."""
        return next((each for each in self.arguments if not each.names), None)


def verbs_of(parser: argparse.ArgumentParser) -> tuple[Verb, ...]:
    """Read a parser."""
    (verbs,) = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001 - argparse offers no public way to list options
    helps = {action.dest: action.help or "" for action in verbs._choices_actions}  # noqa: SLF001 - the same
    return tuple(
        Verb(name, helps[name], tuple(map(_argument, _shown(options)))) for name, options in verbs.choices.items()
    )


def _shown(options: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    return (action for action in options._actions if action.help != argparse.SUPPRESS)  # noqa: SLF001 - the same


def _argument(action: argparse.Action) -> Argument:
    return Argument(
        names=tuple(action.option_strings),
        help=(action.help or "").replace("%%", "%"),
        takes=NOTHING if action.nargs == 0 else KINDS.get(str(action.metavar), FILES),
        choices=tuple(action.choices or ()),
        repeats=action.nargs in {"*", "+"} or isinstance(action, argparse._AppendAction),  # noqa: SLF001 - the same
    )


BASH = r"""# bash completion of nodeless: source <(nodeless completion bash)
_nodeless_words() {
  local configs=() config i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == --config ]] || continue
    config=${COMP_WORDS[i + 1]}
    [[ $config == = ]] && config=${COMP_WORDS[i + 2]}
    configs+=("$config")
  done
  ((${#configs[@]})) || configs=(clusters.yaml)
  case $1 in
    clusters) nodeless completion --clusters "${configs[@]}" 2>/dev/null ;;
    releases) nodeless completion --releases 2>/dev/null ;;
    either) _nodeless_words clusters; _nodeless_words releases ;;
  esac
}

_nodeless() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=
  [[ $word == = ]] && word=
  [[ $before == = ]] && before=${COMP_WORDS[COMP_CWORD - 2]}
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words='@VERBS@'
  else
    case "${COMP_WORDS[1]} $before" in
@VALUES@
      *)
        case "${COMP_WORDS[1]} $word" in
@OPTIONS@
@POSITIONALS@
        esac
        ;;
    esac
  fi
  # Without words, bash completes the names of files.
  [[ -n $words ]] && COMPREPLY=($(compgen -W "$words" -- "$word"))
}

complete -o default -F _nodeless nodeless"""


def bash(verbs: Sequence[Verb]) -> str:
    """Write the script for bash, from version 3.2 on."""
    values, options, positionals = [], [], []
    for verb in verbs:
        for option in verb.options:
            if option.takes != NOTHING:
                values += [f"      '{verb.name} {name}') {_bash_words(option)} ;;" for name in option.names]
        names = " ".join(name for option in verb.options for name in option.names)
        options.append(f"          '{verb.name} -'*) words='{names}' ;;")
        if verb.positional:
            positionals.append(f"          '{verb.name} '*) {_bash_words(verb.positional)} ;;")
    return _filled(
        BASH,
        VERBS=" ".join((*(verb.name for verb in verbs), "--help", "--version")),
        VALUES="\n".join(values),
        OPTIONS="\n".join(options),
        POSITIONALS="\n".join(positionals),
    )


def _bash_words(argument: Argument) -> str:
    if argument.choices:
        return f"words='{' '.join(argument.choices)}'"
    return {
        FILES: "return",
        FOLDERS: 'COMPREPLY=($(compgen -d -- "$word")); return',
    }.get(argument.takes, f"words=$(_nodeless_words {argument.takes})")


ZSH = r"""#compdef nodeless
# zsh completion of nodeless: source <(nodeless completion zsh)
_nodeless_words() {
  # What to complete is the last argument; zsh puts its own before it.
  local kind=${@[-1]} i
  local -a found configs
  for (( i = 1; i < $#words; i++ )); do
    [[ $words[i] == --config ]] && configs+=("$words[i+1]")
  done
  (( $#configs )) || configs=(clusters.yaml)
  [[ $kind != releases ]] && found+=(${(f)"$(nodeless completion --clusters "${configs[@]}" 2>/dev/null)"})
  [[ $kind != clusters ]] && found+=(${(f)"$(nodeless completion --releases 2>/dev/null)"})
  compadd "${@[1,-2]}" -a found
}

_nodeless() {
  if (( CURRENT == 2 )); then
    local -a verbs
    verbs=(
@VERBS@
    )
    _describe command verbs
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
@ARGUMENTS@
  esac
}

if [[ $funcstack[1] == _nodeless ]]; then
  _nodeless "$@"
else
  compdef _nodeless nodeless
fi"""
ZSH_ACTIONS = {
    FILES: "_files",
    FOLDERS: "_files -/",
    **{kind: f"_nodeless_words {kind}" for kind in (CLUSTERS, RELEASES, EITHER)},
}


def zsh(verbs: Sequence[Verb]) -> str:
    """Write the script for zsh."""
    arguments = []
    for verb in verbs:
        lines = " ".join(_zsh_argument(each) for each in verb.arguments)
        arguments.append(f"    {verb.name}) _arguments {lines} ;;")
    return _filled(
        ZSH,
        VERBS="\n".join(f"      {_quoted(f'{verb.name}:{verb.help}')}" for verb in verbs),
        ARGUMENTS="\n".join(arguments),
    )


def _zsh_argument(argument: Argument) -> str:
    text = argument.help.replace("[", "(").replace("]", ")").replace(":", r"\:")
    action = f"({' '.join(argument.choices)})" if argument.choices else ZSH_ACTIONS.get(argument.takes, "")
    if not argument.names:
        return _quoted(f"{'*' if argument.repeats else ''}:{text}:{action}")
    specs = []
    for name in argument.names:
        takes = f"=[{text}]:value:{action}" if argument.takes != NOTHING else f"[{text}]"
        specs.append(_quoted(f"{'*' if argument.repeats else ''}{name}{takes if name[:2] == '--' else f'[{text}]'}"))
    return " ".join(specs)


FISH = r"""# fish completion of nodeless: nodeless completion fish > ~/.config/fish/completions/nodeless.fish
function __nodeless_words
    set -l configs
    set -l before
    for word in (commandline -opc)
        if test "$before" = --config
            set -a configs $word
        end
        set before $word
    end
    if test -z "$configs"
        set configs clusters.yaml
    end
    if test $argv[1] != releases
        nodeless completion --clusters $configs 2>/dev/null
    end
    if test $argv[1] != clusters
        nodeless completion --releases 2>/dev/null
    end
end

complete -c nodeless -f
complete -c nodeless -n __fish_use_subcommand -l help -d 'show the help'
complete -c nodeless -n __fish_use_subcommand -l version -d 'show the version'
@LINES@"""


def fish(verbs: Sequence[Verb]) -> str:
    """Write the script for fish."""
    lines = []
    for verb in verbs:
        lines.append(f"complete -c nodeless -n __fish_use_subcommand -a {verb.name} -d {_fish_quoted(verb.help)}")
        for argument in verb.arguments:
            names = " ".join(f"-l {name[2:]}" if name[:2] == "--" else f"-s {name[1:]}" for name in argument.names)
            about = f"-d {_fish_quoted(argument.help)}" if names else ""
            parts = (f"-n '__fish_seen_subcommand_from {verb.name}'", names, _fish_value(argument), about)
            lines.append(" ".join(("complete -c nodeless", *filter(None, parts))))
    return _filled(FISH, LINES="\n".join(lines))


def _fish_value(argument: Argument) -> str:
    if argument.choices:
        return f"-x -a '{' '.join(argument.choices)}'"
    return {
        NOTHING: "",
        FILES: "-r -F",
        FOLDERS: "-x -a '(__fish_complete_directories)'",
    }.get(argument.takes, f"-x -a '(__nodeless_words {argument.takes})'")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _filled(template: str, **parts: str) -> str:
    for name, text in parts.items():
        template = template.replace(f"@{name}@", text)
    return template


SCRIPTS: dict[str, Callable[[Sequence[Verb]], str]] = {"bash": bash, "zsh": zsh, "fish": fish}

// SPDX-License-Identifier: MIT

/// Completions for shells, which are generated from the tables.
enum CompletionText {
    static let shells = ["bash", "zsh", "fish"]

    /// Returns the completions for a shell; nil for an unknown one.
    static func text(for shell: String) -> String? {
        switch shell {
        case "bash": bash
        case "zsh": zsh
        case "fish": fish
        default: nil
        }
    }

    private static var commands: [CommandSpec] { CommandSpec.all.filter { $0.name != .request } }

    private static func takesFile(_ option: CommandOption) -> Bool {
        option.argument == "FILE" || option.argument == "PATH"
    }

    static var bash: String {
        let names = OptionTable.all.map(\.long).joined(separator: " ")
        var cases = ""
        for option in OptionTable.all where option.argument != nil {
            let patterns = ([option.long] + (option.short.map { ["-\($0)"] } ?? [])).joined(separator: "|")
            let words =
                takesFile(option)
                ? "_curlew_files \"$word\""
                : "COMPREPLY=($(compgen -W \"\(option.choices.joined(separator: " "))\" -- \"$word\"))"
            cases += "        \(patterns)) \(words); return ;;\n"
        }
        let first = commands.map(\.name.rawValue).joined(separator: " ")
        cases +=
            "        completions) COMPREPLY=($(compgen -W \"\(shells.joined(separator: " "))\" -- \"$word\")); return ;;\n"
        return """
            # Completions of curlew for bash. Load them with: source <(curlew completions bash)
            _curlew_files() {
                local name
                while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$1")
                compopt -o filenames 2> /dev/null
                return 0
            }
            _curlew() {
                local word="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
                # --name=value are three words.
                if [ "$word" = "=" ]; then
                    word=""
                elif [ "$previous" = "=" ] && [ "$COMP_CWORD" -gt 2 ]; then
                    previous="${COMP_WORDS[COMP_CWORD-2]}"
                fi
                COMPREPLY=()
                case "$previous" in
            \(cases)    esac
                case "$word" in
                    -*) COMPREPLY=($(compgen -W "\(names)" -- "$word")) ;;
                    *) if [ "$COMP_CWORD" -eq 1 ]; then
                           COMPREPLY=($(compgen -W "\(first)" -- "$word"))
                       else
                           _curlew_files "$word"
                       fi ;;
                esac
            }
            complete -F _curlew curlew

            """
    }

    static var zsh: String {
        func quoted(_ text: String) -> String {
            text.reduce(into: "") { result, character in
                if "[]:'\\".contains(character) { result += character == "'" ? "'\\'" : "\\" }
                result.append(character)
            }
        }
        let options = OptionTable.all.map { option in
            let action =
                option.argument.map { argument in
                    let values = takesFile(option) ? "_files" : "(\(option.choices.joined(separator: " ")))"
                    return ":\(quoted(argument.lowercased())):\(values)"
                } ?? ""
            let help = "[\(quoted(option.help))]"
            let long = "        '\(option.long)\(option.argument == nil ? "" : "=")\(help)\(action)' \\\n"
            return long + (option.short.map { "        '-\($0)\(help)\(action)' \\\n" } ?? "")
        }.joined()
        let names = commands.map { "        '\($0.name.rawValue):\(quoted($0.summary))'\n" }.joined()
        return """
            #compdef curlew
            # Completions of curlew for zsh: curlew completions zsh > "${fpath[1]}/_curlew"
            _curlew_commands() {
                local -a commands=(
            \(names)    )
                _describe command commands
            }
            _curlew_items() {
                case "$words[2]" in
                    completions) compadd \(shells.joined(separator: " ")) ;;
                    har) if (( CURRENT == 3 )); then compadd \(HARCommand.actions.joined(separator: " ")); else _files; fi ;;
                    help) compadd items exit-codes \(commands.map(\.name.rawValue).joined(separator: " ")) ;;
                    *) _files ;;
                esac
            }
            _curlew() {
                _arguments -s \\
            \(options)        '1:command or URL:_curlew_commands' \\
                    '*:item:_curlew_items'
            }
            _curlew "$@"

            """
    }

    static var fish: String {
        func quoted(_ text: String) -> String {
            "'" + text.reduce(into: "") { $0 += "'\\".contains($1) ? "\\\($1)" : "\($1)" } + "'"
        }
        var text =
            "# Completions of curlew for fish: curlew completions fish > ~/.config/fish/completions/curlew.fish\n"
        for spec in commands {
            text += "complete -c curlew -n __fish_use_subcommand -a \(spec.name.rawValue) -d \(quoted(spec.summary))\n"
        }
        text += "complete -c curlew -n '__fish_seen_subcommand_from completions' -f -a "
        text += quoted(shells.joined(separator: " ")) + "\n"
        text += "complete -c curlew -n '__fish_seen_subcommand_from har' -a "
        text += quoted(HARCommand.actions.joined(separator: " ")) + "\n"
        for option in OptionTable.all {
            text += "complete -c curlew -l \(option.name.rawValue)" + (option.short.map { " -s \($0)" } ?? "")
            if option.argument != nil {
                text += takesFile(option) ? " -r" : " -x"
                if !option.choices.isEmpty { text += " -a \(quoted(option.choices.joined(separator: " ")))" }
            }
            text += " -d \(quoted(option.help))\n"
        }
        return text
    }
}

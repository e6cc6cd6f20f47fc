// SPDX-License-Identifier: MIT

import Curlew
import Foundation
import Testing

@testable import CurlewCommand

/// The completions, parsed and used by the shells for which they are.
@Suite(.timeLimit(.minutes(2)))
struct CompletionTests {
    /// The path of a shell; nil, with the reason printed, if it is missing.
    private func shell(_ name: String) -> String? {
        do { return try Program.path(name) } catch {
            print("\(name) is not installed: its completions were not tried (\(error))")
            return nil
        }
    }

    private func lines(_ output: Data) -> [String] {
        String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test func everyOptionIsCompleted() async {
        for shell in CompletionText.shells {
            let run = await Run("completions", shell)
            #expect(run.code == 0)
            for option in OptionTable.all {
                #expect(run.output.contains(option.name.rawValue), "\(shell) \(option.long)")
            }
        }
        #expect(await Run("completions", "tcsh").code == 2)
    }

    @Test(arguments: CompletionText.shells)
    func theShellParsesTheScript(_ name: String) async throws {
        guard let path = shell(name) else { return }
        let folder = try TemporaryFolder()
        let script = try folder.file("completions", CompletionText.text(for: name) ?? "")
        let output = try await onThread { try Program.run(path, ["-n", script]) }
        #expect(output.isEmpty, "\(String(decoding: output, as: UTF8.self))")
        // A script that is not closed is an error, so the shell has really parsed the other one.
        let broken = try folder.file("broken", "if true\n")
        await #expect(throws: Program.Failure.self) { try await onThread { try Program.run(path, ["-n", broken]) } }
    }

    @Test func bashCompletesCommandsAndOptions() async throws {
        let folder = try TemporaryFolder()
        _ = try folder.file("a file", "")
        let script =
            CompletionText.bash + """

                complete_words() {
                    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _curlew
                    local IFS='|'; echo "${COMPREPLY[*]}"
                }
                complete_words curlew --off
                complete_words curlew --color a
                complete_words curlew --color = a
                complete_words curlew --color =
                complete_words curlew ev
                complete_words curlew completions f
                complete_words curlew --output a
                complete_words curlew --har = "a f"
                complete_words curlew x a
                """
        guard let bash = shell("bash") else { return }
        let output = try await onThread { try Program.run(bash, ["-c", script], in: folder.path) }
        #expect(
            lines(output) == [
                "--offline", "auto|always", "auto|always", "auto|always|never", "events", "fish", "a file", "a file",
                "a file",
            ])
    }

    @Test func fishCompletesCommandsAndOptions() async throws {
        guard let fish = shell("fish") else { return }
        let folder = try TemporaryFolder()
        let script = try folder.file("curlew.fish", CompletionText.fish)
        func completed(_ words: String) async throws -> [String] {
            let command = "source \(script); complete -C '\(words)'"
            let output = try await onThread { try Program.run(fish, ["-N", "-c", command], in: folder.path) }
            return lines(output).map { String($0.prefix { $0 != "\t" }) }.sorted()
        }
        #expect(try await completed("curlew --off") == ["--offline"])
        #expect(try await completed("curlew --color a") == ["always", "auto"])
        #expect(try await completed("curlew ev") == ["events"])
        #expect(try await completed("curlew completions f") == ["fish"])
        #expect(try await completed("curlew har re") == ["redact", "report"])
        #expect(try await completed("curlew -o curlew.f") == ["curlew.fish"])
    }

    @Test func zshCompletesCommandsAndOptions() async throws {
        guard let zsh = shell("zsh") else { return }
        let folder = try TemporaryFolder()
        _ = try folder.file("_curlew", CompletionText.zsh)
        let script = try folder.file("complete.zsh", Self.zshScript)
        let output = try await onThread {
            try Program.run(
                zsh,
                [
                    "-f", script, folder.path, "curlew --off", "curlew --color=a", "curlew ev", "curlew completions f",
                    "curlew har re", "curlew --fo",
                ], in: folder.path)
        }
        #expect(
            lines(output) == [
                "curlew --off: --offline", "curlew --color=a: always auto", "curlew ev: events",
                "curlew completions f: fish", "curlew har re: redact report", "curlew --fo: --follow --form",
            ])
    }

    /// Loads the function in an interactive shell on a terminal, presses the tab after each text, and prints what was
    /// found.
    private static let zshScript = #"""
        zmodload zsh/zpty || exit 1
        out=$1/matches
        zpty shell zsh -f -i
        zpty -w shell "fpath=($1 \$fpath); autoload -Uz compinit; compinit -u -D"
        zpty -w shell 'compadd() { local -a f; builtin compadd -O f "$@"; print -rl -- $f >> '$out'; builtin compadd "$@" }'
        zpty -w shell 'finish() { print END; zle .kill-buffer }; zle -N finish'
        zpty -w shell 'bindkey "^I" complete-word; bindkey "^X" finish; print REA""DY'
        while zpty -r shell line; do [[ $line == *READY* ]] && break; done
        for words in "${@[2,-1]}"; do
            : > $out
            zpty -w -n shell "$words"$'\t'$'\x18'
            while zpty -r shell line; do [[ $line == *END* ]] && break; done
            print -r -- "$words: ${(j: :)${(fou)"$(<$out)"}}"
        done
        zpty -d shell
        """#
}

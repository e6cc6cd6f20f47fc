// SPDX-License-Identifier: MIT

// Only there can a test start a process.
#if os(Linux) || os(macOS)
import Testing

@testable import CurlewCore
@testable import CurlewRecording

/// Commands run by real shells, with a function in place of curl that writes its arguments.
@Suite(.timeLimit(.minutes(1)))
struct CurlCommandShellTests {
    /// The arguments of each command in the script, as bytes, and the files that running it left.
    private func run(_ commands: [String], by shell: String) async throws -> (arguments: [[[UInt8]]], files: [String]) {
        let stub = "curl() { printf '%s\\000' \"$@\"; printf '\\001\\000'; }\n"
        let result = try await Shell.run(stub + commands.joined(separator: "\n") + "\n", by: shell)
        #expect(result.status == 0)
        let words = result.output.split(separator: 0, omittingEmptySubsequences: false).dropLast().map(Array.init)
        return (words.split(separator: [1], omittingEmptySubsequences: false).dropLast().map(Array.init), result.files)
    }

    private func expect(
        _ arguments: [[UInt8]]?, _ expected: [String], _ comment: Comment?,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        // Not as texts: those are equal if they look the same.
        #expect(arguments == expected.map { Array($0.utf8) }, comment, sourceLocation: sourceLocation)
    }

    /// The first ones are those of a security review; each wrote the file by the command that was shown.
    static let payloads = [
        "x'\u{301};touch PWNED;'\u{301}", "x'\u{200D};touch PWNED;'\u{200D}", "x'\u{FE0F};touch PWNED;'\u{FE0F}",
        "\u{600}';touch PWNED;\u{600}'", "x'\u{20E3}$(touch PWNED)'\u{20E3}", "'\u{301}\n touch PWNED\n'\u{301}",
        "'\u{301}`touch PWNED`'\u{301}", "\\'\u{301};touch PWNED;\\'\u{301}", "'';touch PWNED;''",
        "\u{1100}'\u{1161};touch PWNED;'\u{11A8}",
    ]

    @Test("A shell runs nothing that a request holds: in a body, a field, a method, a file name", arguments: Shell.all)
    func payloads(shell: String) async throws {
        for payload in Self.payloads {
            let line = payload.replacing("\n", with: " ")
            let text = try HTTPRequest(
                .post, url: "https://a.test/", headers: [.contentType: "text/plain", "X-Name": line],
                body: .bytes(Data(payload.utf8)))
            let json = try HTTPRequest(
                .post, url: "https://a.test/", headers: [.contentType: "application/json"],
                body: .bytes(Data(#"{"name":"\#(line)"}"#.utf8)))
            let file = try HTTPRequest(HTTPMethod(rawValue: payload), url: "https://a.test/", body: .file(payload))
            for redaction in [Redaction.standard, .none] {
                let commands = [text, json, file].map { $0.curlCommand(redaction: redaction) }
                let result = try await run(commands, by: shell)
                #expect(result.files.isEmpty && result.arguments.count == 3, "\(commands)")
                guard result.arguments.count == 3 else { continue }
                expect(
                    result.arguments[0],
                    [
                        "--request", "POST", "--header", "Content-Type: text/plain", "--header", "X-Name: \(line)",
                        "--data-raw", payload, "https://a.test/",
                    ], "\(commands[0])")
                expect(
                    result.arguments[1],
                    [
                        "--request", "POST", "--header", "Content-Type: application/json", "--data-raw",
                        #"{"name":"\#(line)"}"#, "https://a.test/",
                    ], "\(commands[1])")
                expect(
                    result.arguments[2],
                    [
                        "--request", payload, "--header", "Content-Type:", "--data-binary", "@\(payload)",
                        "https://a.test/",
                    ], "\(commands[2])")
            }
        }
    }

    @Test("A shell reads back exactly what the request holds, whatever it holds", arguments: Shell.all)
    func random(shell: String) async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        var commands: [String] = []
        var expected: [[String]] = []
        for _ in 0..<400 {
            let method = "M" + HostileText.make(&random)
            // A field holds no line break, and text with the rest is not taken for text.
            let value = "v" + HostileText.make(&random, without: "\n\r\u{1B}\u{7F}") + "v"
            let body = "b" + HostileText.make(&random, without: "\u{1B}\u{7F}\u{FFFD}")
            let path = HostileText.make(&random)
            let bytes = try HTTPRequest(
                HTTPMethod(rawValue: method), url: "https://a.test/",
                headers: [.contentType: "text/plain", "X-Value": value],
                body: .bytes(Data(body.utf8)))
            let file = try HTTPRequest(.put, url: "https://[::1]/", headers: ["X-Empty": ""], body: .file(path))
            commands += [bytes, file].map { $0.curlCommand(redaction: .none) }
            expected.append([
                "--request", method, "--header", "Content-Type: text/plain", "--header", "X-Value: \(value)",
                "--data-raw", body, "https://a.test/",
            ])
            expected.append([
                "--request", "PUT", "--header", "X-Empty;", "--header", "Content-Type:", "--data-binary",
                path == "-" ? "@./-" : "@\(path)", "--globoff", "https://[::1]/",
            ])
        }
        let result = try await run(commands, by: shell)
        #expect(result.files.isEmpty, "seed \(seed)")
        #expect(result.arguments.count == expected.count, "seed \(seed)")
        for (index, pair) in zip(result.arguments, expected).enumerated() {
            expect(pair.0, pair.1, "seed \(seed), \(commands[index])")
        }
    }

    @Test("A NUL byte cannot be an argument: there is no command, and a comment says so", arguments: Shell.all)
    func refused(shell: String) async throws {
        for text in ["\0", "x'\0\u{301};touch PWNED;'\0\u{301}", "x\0\n;touch PWNED\n"] {
            let requests = [
                try HTTPRequest(HTTPMethod(rawValue: text), url: "https://a.test/"),
                try HTTPRequest(.put, url: "https://a.test/", body: .file(text)),
            ]
            let commands = requests.map { $0.curlCommand() }
            for command in commands {
                #expect(command.hasPrefix("# No command") && !command.utf8.contains(UInt8(ascii: "\n")))
            }
            let result = try await run(commands, by: shell)
            #expect(result.arguments.isEmpty && result.files.isEmpty)
        }
    }

    @Test("A file that is called like the standard input is the file")
    func standardInput() throws {
        let request = try HTTPRequest(.put, url: "https://a.test/", body: .file("-"))
        #expect(request.curlCommand().contains("--data-binary '@./-'"))
    }

    @Test("Whatever a command holds, a terminal shows it and a paste does not end in it")
    func terminal() async throws {
        let text = "\u{1B}[201~;touch PWNED\u{1B}[200~ \u{9B}2J \u{202E}\u{2066}\t\r\u{B}\u{C} é 𝄞\n!! ^a^b^"
        let request = try HTTPRequest(
            HTTPMethod(rawValue: text), url: "https://a.test/", headers: [.contentType: "text/plain"],
            body: .bytes(Data("a\u{9B}\tb\r\nc".utf8)))
        let command = request.curlCommand()
        let active = command.unicodeScalars.filter {
            $0.value < 0x20 && $0 != "\n" || (0x7F...0x9F).contains($0.value) || $0.value == 0x202E
                || $0.value == 0x2066
        }
        #expect(active.isEmpty)
        let lines = command.split(separator: "\n").dropFirst()
        #expect(lines.contains { $0.hasPrefix("'\"$(printf '\\041\\041')\"") }, "\(command)")
        for shell in Shell.all {
            let words = try #require(try await run([command], by: shell).arguments.first)
            expect(words.dropFirst().first.map { [$0] }, [text], nil)
            expect(words.dropLast().last.map { [$0] }, ["a\u{9B}\tb\r\nc"], nil)
        }
    }
}
#endif

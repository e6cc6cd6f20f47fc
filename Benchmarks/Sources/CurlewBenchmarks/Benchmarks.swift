// SPDX-License-Identifier: MIT

import Foundation

/// Runs every client at every width in interleaved rounds and prints medians, ratios and bars.
///
/// A round runs all clients at all widths one after the other before the next begins, so a machine that slows down
/// slows all of them; only figures of one run are comparable. Each client is a process of its own: its CPU time is the
/// client's alone.
struct Benchmarks {
    let options: Options

    func run() throws {
        let server = try Server(room: options.large * 3)
        let contests = options.suites.flatMap { $0.contests(options, folder: server.folder) }
            .filter { !$0.clients.isEmpty }
        guard !contests.isEmpty else { throw Failure("none of these clients is in these suites") }
        let field = Field(for: Set(contests.flatMap(\.clients)))
        var report = Report(options: options, field: field)
        for contest in contests {
            try prepare(contest.work, server)
            report.begin(contest)
            let rounds = options.rounds(transfers: contest.work.isTransfer)
            for round in 1...rounds {
                for width in contest.widths {
                    measure(contest, width, "round \(round) of \(rounds)", server, field, &report)
                }
            }
            progress("")
            if options.format != .json { report.printLast() }
        }
        progress("")
        report.printEnd()
        withExtendedLifetime(server) {}
    }

    private func prepare(_ work: Work, _ server: Server) throws {
        switch work {
        case .typed: break
        case .bytes(let size): _ = try server.prepare(size)
        case .download(let size, _), .upload(let size, _):
            _ = try server.prepare(size)
            _ = try server.prepare(Work.warmUpSize)
        }
    }

    private func measure(
        _ contest: Contest, _ width: Int, _ round: String, _ server: Server, _ field: Field, _ report: inout Report
    ) {
        for client in contest.clients where field.missing[client] == nil {
            // It would run fewer at a time than the others.
            if client == "curl", width > Command.curlLimit {
                report.addNote("curl runs at most \(Command.curlLimit) transfers at a time")
                continue
            }
            progress("\(contest.title): \(width) in flight, \(round), \(client)")
            do {
                let sample = try run(client, contest, width, server, field)
                report.add(sample, client: client, width: width)
            } catch {
                report.addFailure("\(error)", client: client, width: width)
            }
        }
    }

    private func run(
        _ client: String, _ contest: Contest, _ width: Int, _ server: Server, _ field: Field
    ) throws -> Sample {
        let url = server.url(contest.door, for: contest.work)
        let numbers = ["\(width)", "\(options.seconds)"]
        let work = contest.work
        let command =
            if let peer = Peer(rawValue: client), let program = field.commands[peer] {
                program + numbers + [url + work.path, "\(work)"]
            } else {
                [CommandLine.arguments[0], "worker", client] + numbers + [url, "\(work)"]
            }
        let timeout = work.isTransfer ? 300 : options.seconds * 12 + 90
        let output = try Program.run(
            command[0], Array(command.dropFirst()), environment: server.environment, timeout: timeout)
        return try JSONDecoder().decode(Sample.self, from: Data(output.text.utf8))
    }

    /// One line that is written over, only where a person watches.
    private func progress(_ text: String) {
        guard isatty(2) == 1 else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8))
    }
}

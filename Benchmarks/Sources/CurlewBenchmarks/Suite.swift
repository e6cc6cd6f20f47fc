// SPDX-License-Identifier: MIT

import Foundation

/// Runs every client at every width in interleaved rounds and prints medians and ratios.
///
/// A round runs all clients one after the other before the next begins, so a machine that slows down slows all of them;
/// only figures of one run are comparable. Each client is a process of its own: its CPU time is the client's alone.
struct Suite {
    let options: Options

    func run() async throws {
        let server = try Server()
        var report = Report(options: options)
        for width in options.widths {
            try measure(["curlew", "curlew-transport", "urlsession", "urlsession-wide", "wrk"], width, server, &report)
        }
        try measure(["layer", "decoder"], 1, server, &report)
        report.print()
        withExtendedLifetime(server) {}
    }

    private func measure(_ clients: [String], _ width: Int, _ server: Server, _ report: inout Report) throws {
        for round in 1...options.rounds {
            for client in clients {
                progress("\(width) in flight, round \(round) of \(options.rounds), \(client)")
                do {
                    let sample = try client == "wrk" ? wrk(width, server) : worker(client, width, server)
                    report.add(sample, client: client, width: width)
                } catch {
                    report.addFailure("\(error)", client: client, width: width)
                }
            }
        }
        progress("")
    }

    private func worker(_ client: String, _ width: Int, _ server: Server) throws -> Sample {
        let output = try run(
            CommandLine.arguments[0], ["worker", client, "\(width)", "\(options.seconds)", server.url],
            timeout: options.seconds * 2 + 30)
        return try JSONDecoder().decode(Sample.self, from: output)
    }

    /// The ceiling: a load generator in C that decodes nothing.
    private func wrk(_ width: Int, _ server: Server) throws -> Sample {
        let seconds = max(1, Int(options.seconds))
        let output = try run(
            "/usr/bin/wrk",
            ["-t", width > 1 ? "2" : "1", "-c", "\(width)", "-d", "\(seconds)s", server.url + "/user.json"],
            timeout: Double(seconds) + 30)
        let text = String(decoding: output, as: UTF8.self)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Requests/sec:") }),
            let rate = Double(line.split(separator: " ").last ?? "")
        else { throw Failure("wrk printed no rate") }
        var sample = Sample(requests: 0, seconds: 1, cpuSeconds: 0, latencies: [], peakMegabytes: 0)
        sample.requestsPerSecond = rate
        return sample
    }

    private func run(_ program: String, _ arguments: [String], timeout: Double) throws -> Data {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let guardian = DispatchWorkItem { kill(process.processIdentifier, SIGKILL) }
        DispatchQueue.global().asyncAfter(deadline: .now() + timeout, execute: guardian)
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guardian.cancel()
        guard process.terminationStatus == 0 else {
            throw Failure(
                "ended with \(process.terminationReason == .exit ? "status" : "signal") \(process.terminationStatus)")
        }
        return data
    }

    /// One line that is written over, only where a person watches.
    private func progress(_ text: String) {
        guard isatty(2) == 1 else { return }
        FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8))
    }
}

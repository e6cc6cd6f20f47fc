// SPDX-License-Identifier: MIT

import Foundation

/// Clients that are commands of the system. Run by a worker, so that the usage of its ended children is theirs alone.
enum Command: String {
    case curl, wrk, h2load

    /// The most transfers that curl runs at a time.
    static let curlLimit = 300

    func run(width: Int, seconds: Double, url: String, work: Work) throws -> Sample {
        guard let program = Program.path(rawValue) else { throw Failure("\(rawValue) is not installed") }
        return switch self {
        case .curl where work.isTransfer: try curlTransfer(program, url + work.path, work)
        case .curl: try curlRequests(program, width, seconds, url + work.path)
        case .wrk: try wrk(program, width, seconds, url + work.path)
        case .h2load: try h2load(program, width, seconds, url + work.path)
        }
    }

    private func measured(_ program: String, _ arguments: [String], timeout: Double) throws -> Measured {
        let cpu = ProcessUsage.children
        let start = ContinuousClock.now
        let output = try Program.run(program, arguments, timeout: timeout)
        return Measured(
            text: output.text, seconds: (ContinuousClock.now - start) / .seconds(1),
            cpuSeconds: ProcessUsage.children - cpu, memory: .init(peak: output.peakMegabytes))
    }

    private func curlTransfer(_ program: String, _ url: String, _ work: Work) throws -> Sample {
        let files =
            switch work {
            case .download(_, let file): ["-o", file]
            case .upload(_, let file): ["-o", "/dev/null", "-T", file]
            case .typed, .bytes: [String]()
            }
        if case .download(_, let file) = work { try? FileManager.default.removeItem(atPath: file) }
        let result = try measured(
            program, ["-sS", "--fail", "--noproxy", "*", "-w", "%{time_total}"] + files + [url], timeout: 300)
        // Its own clock: neither starting a program nor loading its libraries is what is compared.
        guard let seconds = Double(result.text) else { throw Failure("curl printed no time") }
        return Sample(requests: 1, seconds: seconds, cpuSeconds: result.cpuSeconds, memory: result.memory)
    }

    /// Many requests less few of them, in parallel by curl itself: what is left is free of its start and of the
    /// connections it opens, as the warm-up of the other clients is.
    private func curlRequests(_ program: String, _ width: Int, _ seconds: Double, _ url: String) throws -> Sample {
        func run(_ count: Int) throws -> Measured {
            let parallel = width > 1 ? ["-Z", "--parallel-max", "\(min(width, Self.curlLimit))"] : []
            return try measured(
                program,
                ["-sS", "--no-progress-meter", "--fail", "--noproxy", "*", "-o", "/dev/null"] + parallel
                    + ["\(url)?[1-\(count)]"],
                timeout: seconds * 10 + 60)
        }
        let few = max(20, width * 2)
        let first = try run(few)
        var rate = Double(few) / first.seconds
        if first.seconds < seconds { rate = try Double(few * 4) / max(0.001, run(few * 5).seconds - first.seconds) }
        let more = max(few, Int(min(rate, 30_000) * seconds))
        let all = try run(few + more)
        guard all.seconds > first.seconds else { throw Failure("the machine was too busy to tell") }
        return Sample(
            requests: more, seconds: all.seconds - first.seconds,
            cpuSeconds: max(0, all.cpuSeconds - first.cpuSeconds), memory: all.memory)
    }

    private func wrk(_ program: String, _ width: Int, _ seconds: Double, _ url: String) throws -> Sample {
        let time = max(1, Int(seconds))
        let result = try measured(
            program, ["-t", width > 1 ? "2" : "1", "-c", "\(width)", "-d", "\(time)s", "--latency", url],
            timeout: Double(time) + 30)
        guard let rate = result.number(after: "Requests/sec:") else { throw Failure("wrk printed no rate") }
        var sample = result.sample(rate: rate, seconds: Double(time))
        sample.median = result.microseconds(after: "50%") ?? 0
        sample.p99 = result.microseconds(after: "99%") ?? 0
        return sample
    }

    /// As many connections as the streams of one need: a hundred each.
    private func h2load(_ program: String, _ width: Int, _ seconds: Double, _ url: String) throws -> Sample {
        let time = max(1, Int(seconds))
        let connections = (width + 99) / 100
        let result = try measured(
            program, ["-c", "\(connections)", "-m", "\(width / connections)", "-D", "\(time)", url],
            timeout: Double(time) + 30)
        // "finished in 5.00s, 52345.20 req/s, 12.3MB/s"
        let words = result.text.split(whereSeparator: { $0.isWhitespace || $0 == "," })
        guard let unit = words.firstIndex(of: "req/s"), let rate = Double(words[unit - 1]), rate > 0 else {
            throw Failure("h2load printed no rate")
        }
        return result.sample(rate: rate, seconds: Double(time))
    }
}

/// What a command printed and used.
private struct Measured {
    let text: String
    let seconds: Double
    let cpuSeconds: Double
    let memory: Sample.Memory

    func sample(rate: Double, seconds: Double) -> Sample {
        Sample(requests: max(1, Int(rate * seconds)), seconds: seconds, cpuSeconds: cpuSeconds, memory: memory)
    }

    func number(after label: String) -> Double? { word(after: label).flatMap { Double($0) } }

    /// "850.00us", "1.23ms", "1.02s"
    func microseconds(after label: String) -> Double? {
        guard let word = word(after: label) else { return nil }
        for (unit, factor) in [("us", 1.0), ("ms", 1e3), ("s", 1e6)] where word.hasSuffix(unit) {
            return Double(word.dropLast(unit.count)).map { $0 * factor }
        }
        return nil
    }

    private func word(after label: String) -> Substring? {
        let line = text.split(separator: "\n").first { $0.contains(label) }
        return line?.split(whereSeparator: \.isWhitespace).drop { $0 != label }.dropFirst().first
    }
}

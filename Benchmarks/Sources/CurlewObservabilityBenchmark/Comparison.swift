// SPDX-License-Identifier: MIT

import Foundation

/// Runs all variants in turn and prints their instructions per call.
struct Comparison {
    let rounds: Int
    let calls: Int

    /// This program without debug information, which Valgrind cannot read.
    private var program: String { CommandLine.arguments[0] + ".stripped" }

    func run() throws {
        let strip = Process()
        strip.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        strip.arguments = ["strip", "--strip-debug", "-o", program, CommandLine.arguments[0]]
        try strip.run()
        strip.waitUntilExit()
        let server = try Companion(["serve"])
        defer { server.stop() }
        var counts: [Variant: [Double]] = [:]
        for _ in 0..<rounds {
            for variant in Variant.allCases {
                let few = try instructions(of: variant, port: server.line, calls: calls / 5)
                let many = try instructions(of: variant, port: server.line, calls: calls / 5 + calls)
                counts[variant, default: []].append(Double(many - few) / Double(calls))
            }
        }
        print("A GET of a small JSON value over CurlTransport, with the standard pipeline. Instructions of the client")
        print("per call, counted by callgrind: the least of \(rounds) rounds of \(calls) calls. More are turns of the")
        print("event loop that depend on the moment at which bytes arrive.\n")
        print("| observers | instructions | (least–most) | ratio | bar | |\n|---|--:|---|--:|---|---|")
        let base = counts[.none]?.min() ?? 1
        for variant in Variant.allCases {
            let all = counts[variant] ?? []
            let least = all.min() ?? 0
            let ratio = least / base
            let bar = variant.bar.map { String(format: "≤ %.3f", $0) } ?? ""
            let verdict = variant.bar.map { ratio <= $0 ? "met" : "missed" } ?? ""
            let spread = String(format: "%.0f–%.0f", all.min() ?? 0, all.max() ?? 0)
            print(
                "| \(variant.rawValue) |", String(format: "%.0f", least), "| \(spread) |",
                String(format: "%.4f", ratio), "| \(bar) | \(verdict) |")
        }
    }

    /// Runs a client below callgrind, and returns the number of instructions that it reports.
    private func instructions(of variant: Variant, port: String, calls: Int) throws -> Int {
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program]
            + ["client", variant.rawValue, port, "\(calls)"]
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        // The line is: ==12== Collected : 123456
        let line = text.split(separator: "\n").last { $0.contains("Collected :") }
        guard process.terminationStatus == 0, let count = line?.split(separator: " ").last.flatMap({ Int($0) }) else {
            throw Failure(description: "The client of \(variant) failed. Is valgrind installed?\n\(text)")
        }
        return count
    }
}

/// A process of this program that prints one line and then waits for the end of its standard input.
struct Companion {
    let line: String
    private let process = Process()
    private let input = Pipe()

    init(_ arguments: [String]) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        line = text.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String
}

// SPDX-License-Identifier: MIT

import Testing

/// What a program links that imports Curlew.
@Suite(.timeLimit(.minutes(1)))
struct LinkageTests {
    /// Built beside the test program.
    private func probe() throws -> String {
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: program).deletingLastPathComponent().appendingPathComponent("LinkageProbe").path
        try #require(FileManager.default.isExecutableFile(atPath: path), "build LinkageProbe first: swift build")
        return path
    }

    @Test("A program that imports Curlew links neither the large Foundation, its networking, nor ICU")
    func libraries() async throws {
        let probe = try probe()
        let output = try await onThread { try Program.run(Program.path("ldd"), [probe]) }
        let libraries = String(decoding: output, as: UTF8.self)
            .split(separator: "\n").compactMap { $0.split(separator: " ").first?.trimmingCharacters(in: .whitespaces) }
        for name in ["libFoundationEssentials.so", "libcurl.so.4"] { #expect(libraries.contains(name), "\(libraries)") }
        for name in libraries {
            #expect(name != "libFoundation.so")
            #expect(!name.hasPrefix("libFoundationNetworking"))
            #expect(!name.hasPrefix("libFoundationInternationalization"))
            #expect(!name.lowercased().contains("icu"))
        }
    }

    @Test("A program that imports Curlew runs")
    func runs() async throws {
        let probe = try probe()
        let output = try await onThread { try Program.run(probe, []) }
        #expect(String(decoding: output, as: UTF8.self) == "The server could not be reached.\n")
    }
}

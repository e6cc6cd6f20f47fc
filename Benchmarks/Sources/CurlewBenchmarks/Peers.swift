// SPDX-License-Identifier: MIT

import Foundation

/// Clients in other languages: programs in `Benchmarks/Peers` with the arguments WIDTH SECONDS URL WORK.
enum Peer: String, CaseIterable {
    case go, aiohttp, node
    /// A loop in C over libcurl's multi interface: the floor of the transport.
    case libcurl

    /// Which doors it can use: the others speak HTTP/1.1 only.
    func speaks(_ door: Door) -> Bool { self == .go || self == .libcurl || door != .h2 }

    /// The floor is one for calls, not for files.
    func does(_ work: Work) -> Bool { self != .libcurl || !work.isTransfer }

    /// The program and its first arguments; nil when something is not installed.
    var command: [String]? {
        switch self {
        case .go:
            // Built by Scripts/bench beside this program.
            return Self.built("peer-go")
        case .libcurl:
            return Self.built("peer-libcurl")
        case .aiohttp:
            // The interpreter that the system's modules belong to, not a version manager's.
            let pythons = ["/usr/bin/python3", Program.path("python3")].compactMap(\.self)
            let python = pythons.first { (try? Program.run($0, ["-c", "import aiohttp"], timeout: 20)) != nil }
            return python.map { [$0, Self.sources + "/aiohttp_client.py"] }
        case .node:
            // Old ones have no fetch.
            guard let node = Program.path("node"),
                (try? Program.run(node, ["-e", "process.exit(globalThis.fetch ? 0 : 1)"], timeout: 20)) != nil
            else { return nil }
            return [node, Self.sources + "/fetch.mjs"]
        }
    }

    private static func built(_ name: String) -> [String]? {
        let path = (CommandLine.arguments[0] as NSString).deletingLastPathComponent + "/" + name
        return FileManager.default.isExecutableFile(atPath: path) ? [path] : nil
    }

    private static let sources =
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Peers").path
}

/// What can be measured on this machine, found once: who is there, and as which version.
struct Field {
    private(set) var commands: [Peer: [String]] = [:]
    private(set) var versions: [String: String] = [:]
    /// Names of clients that are not installed, and what would install them.
    private(set) var missing: [String: String] = [:]

    init(for clients: Set<String>) {
        for peer in Peer.allCases where clients.contains(peer.rawValue) {
            if let command = peer.command {
                commands[peer] = command
                versions[peer.rawValue] = Program.version(command[0], Array(command.dropFirst()) + ["version"])
            } else {
                missing[peer.rawValue] = Self.packages[peer.rawValue]
            }
        }
        for name in ["curl", "wrk", "h2load"] where clients.contains(name) {
            if let path = Program.path(name) {
                let words = Program.version(path, [name == "wrk" ? "-v" : "--version"])?.split(separator: " ")
                versions[name] = words?.prefix(2).joined(separator: " ")
            } else {
                missing[name] = Self.packages[name]
            }
        }
        versions["nginx"] = Program.path("nginx").flatMap { Program.version($0, ["-v"]) }
    }

    private static let packages = [
        "go": "golang-go", "aiohttp": "python3-aiohttp", "node": "nodejs", "curl": "curl", "wrk": "wrk",
        "h2load": "nghttp2-client", "libcurl": "libcurl4-openssl-dev and a C compiler",
    ]
}

// SPDX-License-Identifier: MIT

import Foundation

/// `CurlewSocketBenchmark ECHO PEERS` prints the echo rate of one WebSocket beside the clients of Python and Node, and
/// what 1,000 open sockets cost.
///
/// Every client runs in a process of its own against the same server, and the clients take turns. `ECHO` is the path of
/// the server, `PEERS` the folder of the other clients.
@main
enum Main {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        if arguments.first == "crowd" { return try await runCrowd(arguments.dropFirst().map { Int($0) ?? 0 }) }
        if arguments.first == "client" { return try await runClient(arguments.dropFirst().map { Double($0) ?? 0 }) }
        guard arguments.count >= 2 else {
            print("usage: Scripts/bench websocket [--quick]")
            exit(2)
        }
        let isQuick = arguments.contains("--quick")
        let server = try EchoServer(arguments[0])
        defer { server.stop() }
        let clients = Peer.all(in: arguments[1])
        try compare(clients, server, rounds: isQuick ? 1 : 5, seconds: isQuick ? 0.5 : 2)
        let result = try crowd(server, seconds: isQuick ? 2 : 10)
        print("\n1,000 open sockets with one event loop, 10 messages/s each: \(result.messages) messages,")
        print(String(format: "%.2f cores,", result.cores), "\(result.bytesPerSocket / 1024) KiB of memory a socket,")
        print("the slowest echo after \(result.slowest)")
        let isMet = result.cores <= 1 && result.bytesPerSocket <= 64 << 10
        print("bar: at most 1 core and 64 KiB a socket: \(isMet ? "met" : "missed")")
    }

    private static func runClient(_ numbers: [Double]) async throws {
        let echo = Echo(
            port: Int(numbers[0]), size: Int(numbers[1]), depth: Int(numbers[2]), seconds: numbers[3])
        print(String(decoding: try JSONEncoder().encode(try await echo.run()), as: UTF8.self))
    }

    private static func runCrowd(_ numbers: [Int]) async throws {
        let result = try await Crowd(port: numbers[0], sockets: 1000, seconds: numbers[1]).run()
        print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
    }

    private static func crowd(_ server: EchoServer, seconds: Int) throws -> Crowd.Result {
        let text = try Peer.output([CommandLine.arguments[0], "crowd", "\(server.port)", "\(seconds)"])
        return try JSONDecoder().decode(Crowd.Result.self, from: Data(text.utf8))
    }

    private static func compare(_ clients: [Peer], _ server: EchoServer, rounds: Int, seconds: Double) throws {
        print("Echoes on one socket, medians of \(rounds) rounds: messages/s (µs of the client's CPU per message).\n")
        print("| message | at a time | " + clients.map(\.name).joined(separator: " | ") + " | Curlew ahead of |")
        print("|---|--:|" + clients.map { _ in "--:|" }.joined() + "---|")
        for (size, depth) in [(64, 1), (64, 64), (65_536, 1), (65_536, 8)] {
            var samples: [[Sample]] = clients.map { _ in [] }
            for _ in 0..<rounds {
                for (index, client) in clients.enumerated() {
                    samples[index].append(try client.run(port: server.port, size, depth, seconds))
                }
            }
            let rates = samples.map { median($0.map { Double($0.messages) / $0.seconds }) }
            let costs = samples.map { median($0.map { $0.cpu / Double($0.messages) * 1e6 }) }
            let cells = zip(rates, costs).map { String(format: "%.0f (%.1f µs)", $0, $1) }
            let ahead = zip(clients, rates).dropFirst().filter { $1 < rates[0] }.map { $0.0.name }
            print("| \(size) B | \(depth) | \(cells.joined(separator: " | ")) | \(ahead.joined(separator: ", ")) |")
        }
    }

    private static func median(_ numbers: [Double]) -> Double { numbers.sorted()[numbers.count / 2] }
}

/// A client program.
struct Peer {
    let name: String
    private let program: [String]

    /// Curlew first, then those that are installed; says which are not.
    static func all(in folder: String) -> [Peer] {
        let node = ["node", "--no-warnings", "--experimental-websocket", folder + "/websocket_client.mjs"]
        let peers = [
            Peer(name: "Curlew", program: [CommandLine.arguments[0], "client"]),
            Peer(name: "Python websockets", program: ["/usr/bin/python3", folder + "/websockets_client.py"]),
            Peer(name: "Node ws", program: node + ["ws"]), Peer(name: "Node", program: node + ["builtin"]),
        ]
        return peers.filter { peer in
            // An invalid port: it ends at once, after it has found what it needs.
            let isThere = (try? output(["/usr/bin/env"] + peer.checks)) != nil
            if !isThere { print("\(peer.name) is not installed: Scripts/setup --bench") }
            return isThere
        }
    }

    private var checks: [String] {
        switch name {
        case "Curlew": ["true"]
        case "Python websockets": ["/usr/bin/python3", "-c", "import websockets"]
        case "Node ws": ["node", "-e", "require('/usr/share/nodejs/ws')"]
        default: ["node", "--experimental-websocket", "-e", "process.exit(globalThis.WebSocket ? 0 : 1)"]
        }
    }

    func run(port: Int, _ size: Int, _ depth: Int, _ seconds: Double) throws -> Sample {
        let text = try Self.output(["/usr/bin/env"] + program + ["\(port)", "\(size)", "\(depth)", "\(seconds)"])
        return try JSONDecoder().decode(Sample.self, from: Data(text.utf8))
    }

    struct Failure: Error {
        let program: [String]
    }

    static func output(_ command: [String]) throws -> String {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(program: command) }
        return String(decoding: data, as: UTF8.self)
    }
}

/// The echo server in C.
final class EchoServer {
    let port: Int
    private let process = Process()
    private let input = Pipe()

    init(_ path: String) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: path)
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Peer.Failure(program: [path])
        }
        self.port = port
    }

    /// The server ends with its input.
    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}

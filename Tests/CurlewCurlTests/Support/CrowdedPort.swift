// SPDX-License-Identifier: MIT

/// A port whose queue of connections is full: a client that connects now receives no response at all.
final class CrowdedPort: Sendable {
    let port: Int
    var url: String { "http://127.0.0.1:\(port)/" }
    private let descriptors: [Int32]

    init() throws {
        let (listener, port) = try LoopbackPort.listen(backlog: 0)
        var descriptors = [listener]
        // The queue holds one or two; further ones are dropped until the server accepts.
        for _ in 0..<4 { descriptors.append(try LoopbackPort.connecting(to: port)) }
        self.descriptors = descriptors
        self.port = port
    }

    deinit {
        descriptors.forEach { close($0) }
    }
}

// SPDX-License-Identifier: MIT

import CurlewCore
import Foundation

/// A tus server that is not ours: `tuspyserver` of Python. It ends with this object, or with the process.
package final class TusServer: Sendable {
    package let port: Int
    package let folder: TemporaryFolder
    private let process: CompanionProcess

    /// Returns when it listens. Throws `Program.Failure` if its packages are missing.
    package static func start() async throws -> TusServer {
        try await onThread { try TusServer() }
    }

    private init() throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("tusserver.py")
        folder = try TemporaryFolder()
        process = try CompanionProcess(Program.python(), [script.path, folder.path])
        let line = process.readLine()
        guard let port = Int(line) else {
            throw Program.Failure(
                description: "tusserver.py did not start (Scripts/setup installs tuspyserver and uvicorn): \(line)")
        }
        self.port = port
    }

    /// The path of an upload with this URL.
    package func path(of url: String?) -> String {
        folder.path + "/" + (url?.split(separator: "/").last.map(String.init) ?? "")
    }
}

/// A proxy on loopback that cuts connections after a number of bytes from the client, for the first connections that
/// it gets; later ones it leaves alone.
package final class CuttingProxy: Sendable {
    private let server: RawServer
    private let rest: Locked<[Int]>
    private let made = Locked(0)

    /// - `cuts`: the number of bytes from the client after which each of the next connections is cut.
    package init(to port: Int, cuts: [Int]) throws {
        let (rest, made) = (Locked(cuts), made)
        self.rest = rest
        server = try RawServer { client in
            let upstream = RawConnection(try LoopbackPort.connected(to: port), index: 0)
            startThread {
                while let bytes = try? upstream.read(upTo: 65_536) { try? client.write(bytes) }
                client.breakOff()
            }
            // Requests without much content pass, and use up no cut.
            var count = 0
            while let bytes = try? client.read(upTo: 16_384) {
                try? upstream.write(bytes)
                count += bytes.count
                let isCut = rest.withLock { cuts in
                    guard let first = cuts.first, count >= first else { return false }
                    cuts.removeFirst()
                    return true
                }
                if isCut {
                    made.withLock { $0 += 1 }
                    client.reset()
                    break
                }
            }
            upstream.breakOff()
        }
    }

    package var url: String { server.url }
    /// The number of connections that were cut.
    package var cuts: Int { made.withLock { $0 } }
}

// SPDX-License-Identifier: MIT

import CurlewCore
import Foundation

/// A proxy on loopback that cuts connections after a number of bytes in one direction, for the first connections that
/// it gets; later ones it leaves alone.
package final class CuttingProxy: Sendable {
    /// The bytes that count.
    package enum Direction: Sendable {
        case fromClient
        case fromServer
    }

    private let server: RawServer
    private let made = Locked(0)

    /// - `cuts`: the number of bytes after which each of the next connections is cut. A connection with fewer bytes uses
    ///   up no cut.
    package init(to port: Int, cuts: [Int], _ direction: Direction = .fromClient) throws {
        let (rest, made) = (Locked(cuts), made)
        /// Returns how many of `bytes` pass, and whether the connection is cut behind them.
        @Sendable func pass(_ bytes: Int, after count: Int) -> (Int, isCut: Bool) {
            rest.withLock { cuts in
                guard let first = cuts.first, count + bytes >= first else { return (bytes, false) }
                cuts.removeFirst()
                return (max(0, first - count), true)
            }
        }
        server = try RawServer { client in
            let upstream = RawConnection(try LoopbackPort.connected(to: port), index: 0)
            startThread {
                var count = 0
                while let bytes = try? upstream.read(upTo: 65_536) {
                    guard direction == .fromServer else {
                        try? client.write(bytes)
                        continue
                    }
                    let (passing, isCut) = pass(bytes.count, after: count)
                    try? client.write(bytes.prefix(passing))
                    count += bytes.count
                    if isCut {
                        made.withLock { $0 += 1 }
                        break
                    }
                }
                client.breakOff()
            }
            var count = 0
            while let bytes = try? client.read(upTo: 16_384) {
                try? upstream.write(bytes)
                guard direction == .fromClient else { continue }
                let (_, isCut) = pass(bytes.count, after: count)
                count += bytes.count
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

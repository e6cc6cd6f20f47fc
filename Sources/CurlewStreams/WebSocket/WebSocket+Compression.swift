// SPDX-License-Identifier: MIT

import CurlewHTTP

extension WebSocket {
    /// The parameters of compression that a client offers (RFC 7692 §7.1). The server decides whether it compresses.
    ///
    /// Small windows and no context need less memory for each connection, and compress less.
    public struct Compression: Hashable, Sendable {
        /// The maximum window of the server, as the logarithm of its size in bytes: 9 to 15. Default 15: 32 KiB. If it is
        /// less, a server that does not support the limit sends uncompressed messages.
        package var serverWindowBits: Int { didSet { serverWindowBits = Self.bounded(serverWindowBits) } }
        /// The maximum window of the client, as the logarithm of its size in bytes: 9 to 15. Default 15: 32 KiB.
        package var clientWindowBits: Int { didSet { clientWindowBits = Self.bounded(clientWindowBits) } }
        /// Whether a message of the server may refer to earlier ones. Default true.
        package var serverKeepsContext: Bool
        /// Whether a message of the client may refer to earlier ones. Default true.
        package var clientKeepsContext: Bool

        /// Creates the usual parameters: the largest windows, and messages that may refer to earlier ones.
        public init() { self.init(serverWindowBits: 15) }

        /// Creates the parameters. A number of bits below 9 counts as 9, one above 15 as 15.
        package init(
            serverWindowBits: Int = 15, clientWindowBits: Int = 15, serverKeepsContext: Bool = true,
            clientKeepsContext: Bool = true
        ) {
            self.serverWindowBits = Self.bounded(serverWindowBits)
            self.clientWindowBits = Self.bounded(clientWindowBits)
            self.serverKeepsContext = serverKeepsContext
            self.clientKeepsContext = clientKeepsContext
        }

        private static func bounded(_ bits: Int) -> Int { Swift.min(Swift.max(bits, 9), 15) }

        var parameters: PerMessageDeflate {
            var parameters = PerMessageDeflate()
            parameters.serverMaxWindowBits = serverWindowBits < 15 ? serverWindowBits : nil
            parameters.clientMaxWindowBits = clientWindowBits < 15 ? clientWindowBits : nil
            parameters.serverNoContextTakeover = !serverKeepsContext
            parameters.clientNoContextTakeover = !clientKeepsContext
            return parameters
        }
    }
}

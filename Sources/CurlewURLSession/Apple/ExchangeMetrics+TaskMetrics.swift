// SPDX-License-Identifier: MIT
// Written against Apple's documentation. On Linux it is type-checked (Scripts/apple) and runs on a model of Darwin.

#if canImport(Darwin)
import CurlewCore
import CurlewHTTP
import Foundation

extension ExchangeMetrics {
    /// Creates metrics from the last transaction of a task. `total` is the time of the task, and `connectionsOpened`
    /// counts the connections that all its transactions opened.
    init(_ metrics: URLSessionTaskMetrics) {
        self.init()
        total = .seconds(metrics.taskInterval.duration)
        connectionsOpened = metrics.transactionMetrics.count { !$0.isReusedConnection }
        guard let last = metrics.transactionMetrics.last else { return }
        version = last.networkProtocolName.flatMap(HTTPVersion.init(protocolName:))
        queue = Self.time(from: metrics.taskInterval.start, to: last.fetchStartDate)
        // What has not ended has no time yet.
        let none: Duration? = last.isReusedConnection || last.connectEndDate != nil ? .zero : nil
        nameLookup = Self.time(from: last.domainLookupStartDate, to: last.domainLookupEndDate) ?? none
        secureConnect = Self.time(from: last.secureConnectionStartDate, to: last.secureConnectionEndDate) ?? none
        let connected = last.secureConnectionStartDate ?? last.connectEndDate
        connect = Self.time(from: last.connectStartDate, to: connected) ?? none
        firstByte = Self.time(from: last.requestStartDate, to: last.responseStartDate)
        transfer = Self.time(from: last.responseStartDate, to: last.responseEndDate)
        bytesSent = last.countOfRequestHeaderBytesSent + last.countOfRequestBodyBytesSent
        bytesReceived = last.countOfResponseHeaderBytesReceived + last.countOfResponseBodyBytesReceived
        reusedConnection = last.isReusedConnection
        if let address = last.remoteAddress, let port = last.remotePort {
            remoteAddress = Self.addressText(address, port)
        }
        connection = Self.connection(of: last)
    }

    /// Returns the connection of a transaction; nil if it used none. URLSession reports no connection identifier.
    private static func connection(of transaction: URLSessionTaskTransactionMetrics) -> ExchangeMetrics.Connection? {
        guard let address = transaction.localAddress, let port = transaction.localPort else { return nil }
        var tls: ExchangeMetrics.Connection.TLS?
        if transaction.request.url?.scheme?.lowercased() == "https" {
            let version: ExchangeMetrics.Connection.TLS.Version? =
                switch transaction.negotiatedTLSProtocolVersion {
                case .TLSv12?: .v12
                case .TLSv13?: .v13
                default: nil
                }
            tls = ExchangeMetrics.Connection.TLS(
                version: version,
                cipherSuite: transaction.negotiatedTLSCipherSuite.flatMap { CipherSuite.name(of: $0.rawValue) })
        }
        return ExchangeMetrics.Connection(localAddress: addressText(address, port), tls: tls)
    }

    private static func addressText(_ address: String, _ port: Int) -> String {
        "\(address.holds(":") ? "[\(address)]" : address):\(port)"
    }

    private static func time(from start: Date?, to end: Date?) -> Duration? {
        guard let start, let end else { return nil }
        return .seconds(max(0, end.timeIntervalSince(start)))
    }
}
#endif

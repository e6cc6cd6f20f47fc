// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

// Every method is optional on Darwin. Those that both delegates of this package have are requirements here; the model
// calls the others on the delegate that has them.

protocol URLSessionDelegate: NSObjectProtocol, Sendable {}

protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
}

protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {}

/// The metrics of a task: one transaction, with what `CurlTransport` reports about it.
final class URLSessionTaskMetrics: NSObject, Sendable {
    let transactionMetrics: [URLSessionTaskTransactionMetrics]
    let taskInterval: DateInterval

    init(_ transactions: [URLSessionTaskTransactionMetrics], _ interval: DateInterval) {
        (transactionMetrics, taskInterval) = (transactions, interval)
    }
}

final class URLSessionTaskTransactionMetrics: NSObject, Sendable {
    struct Cipher: Sendable { let rawValue: UInt16 }

    let request: URLRequest
    let countOfRequestBodyBytesSent: Int64
    let countOfResponseBodyBytesReceived: Int64
    private let metrics: ExchangeMetrics
    private let start: Date
    private let end = Date()

    init(_ request: URLRequest, _ metrics: ExchangeMetrics, _ start: Date, sent: Int64, received: Int64) {
        (self.request, self.metrics, self.start) = (request, metrics, start)
        (countOfRequestBodyBytesSent, countOfResponseBodyBytesReceived) = (sent, received)
    }

    var networkProtocolName: String? {
        metrics.version.map { $0 == .http2 ? "h2" : $0 == .http1_0 ? "http/1.0" : "http/1.1" }
    }
    var isReusedConnection: Bool { metrics.reusedConnection ?? false }
    var fetchStartDate: Date? { moment(metrics.queue ?? .zero, after: start) }
    var domainLookupStartDate: Date? { isReusedConnection ? nil : fetchStartDate }
    // Nothing has an end that CurlTransport has not measured.
    var domainLookupEndDate: Date? { metrics.connect == nil ? nil : connectStartDate }
    var connectStartDate: Date? { moment(metrics.nameLookup ?? .zero, after: domainLookupStartDate) }
    private var openDate: Date? { moment(metrics.connect, after: connectStartDate) }
    var secureConnectionStartDate: Date? { request.url?.scheme?.hasSuffix("s") == true ? openDate : nil }
    var secureConnectionEndDate: Date? { secureConnectionStartDate == nil ? nil : connectEndDate }
    var connectEndDate: Date? { moment(metrics.secureConnect ?? .zero, after: openDate) }
    var requestStartDate: Date? { isReusedConnection ? fetchStartDate : connectEndDate }
    var responseStartDate: Date? { moment(metrics.firstByte, after: requestStartDate) }
    var responseEndDate: Date? { responseStartDate == nil ? nil : end }
    var countOfRequestHeaderBytesSent: Int64 { max(0, (metrics.bytesSent ?? 0) - countOfRequestBodyBytesSent) }
    var countOfResponseHeaderBytesReceived: Int64 {
        max(0, (metrics.bytesReceived ?? 0) - countOfResponseBodyBytesReceived)
    }
    var remoteAddress: String? { Self.parts(metrics.remoteAddress)?.host }
    var remotePort: Int? { Self.parts(metrics.remoteAddress)?.port }
    var localAddress: String? { Self.parts(metrics.connection?.localAddress)?.host }
    var localPort: Int? { Self.parts(metrics.connection?.localAddress)?.port }
    var negotiatedTLSProtocolVersion: URLSessionConfiguration.Version? {
        metrics.connection?.tls.map { $0.version == .v13 ? .TLSv13 : .TLSv12 }
    }
    var negotiatedTLSCipherSuite: Cipher? {
        let name = metrics.connection?.tls?.cipherSuite
        return name.flatMap { name in (0...0xFFFF).first { CipherSuite.name(of: $0) == name } }.map(Cipher.init)
    }

    private func moment(_ duration: Duration?, after start: Date?) -> Date? {
        guard let duration, let start else { return nil }
        return start + Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
    }

    private static func parts(_ address: String?) -> (host: String, port: Int?)? {
        guard let address, let colon = address.lastIndex(of: ":") else { return nil }
        let host = address[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        return (host, Int(address[address.index(after: colon)...]))
    }
}

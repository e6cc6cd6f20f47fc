// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

protocol URLSessionDelegate: NSObjectProtocol, Sendable {
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}

protocol URLSessionTaskDelegate: URLSessionDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void)
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64)
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?)
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse)
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask)
}

protocol URLSessionDataDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void)
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data)
}

protocol URLSessionDownloadDelegate: URLSessionTaskDelegate {
    func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL)
}

protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
}

// Every method is optional on Darwin. What happens without one is what these do.
extension URLSessionDelegate {
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {}
}

extension URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { completionHandler(request) }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) { completionHandler(.performDefaultHandling, nil) }
    func urlSession(
        _ session: URLSession, task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) { completionHandler(nil) }
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {}
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {}
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse
    ) {}
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {}
}

extension URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) { completionHandler(.allow) }
    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {}
}

/// The metrics of a task: one transaction, with what `CurlTransport` reports about it.
final class URLSessionTaskMetrics: NSObject, Sendable {
    let transactionMetrics: [URLSessionTaskTransactionMetrics]
    let taskInterval: DateInterval

    init(_ transactions: [URLSessionTaskTransactionMetrics], _ interval: DateInterval) {
        (transactionMetrics, taskInterval) = (transactions, interval)
    }
}

final class URLSessionTaskTransactionMetrics: NSObject, @unchecked Sendable {
    struct Cipher: Sendable { let rawValue: UInt16 }

    let request: URLRequest
    let networkProtocolName: String?
    let isReusedConnection: Bool
    private(set) var fetchStartDate, domainLookupStartDate, domainLookupEndDate, connectStartDate, connectEndDate: Date?
    private(set) var secureConnectionStartDate, secureConnectionEndDate, requestStartDate: Date?
    private(set) var responseStartDate, responseEndDate: Date?
    private(set) var remoteAddress, localAddress: String?
    private(set) var remotePort, localPort: Int?
    private(set) var negotiatedTLSProtocolVersion: URLSessionConfiguration.Version?
    private(set) var negotiatedTLSCipherSuite: Cipher?
    let countOfRequestHeaderBytesSent: Int64
    let countOfRequestBodyBytesSent: Int64
    let countOfResponseHeaderBytesReceived: Int64
    let countOfResponseBodyBytesReceived: Int64

    init(_ request: URLRequest, _ metrics: ExchangeMetrics, _ start: Date, sent: Int64, received: Int64) {
        self.request = request
        switch metrics.version {
        case .http2?: networkProtocolName = "h2"
        case .http1_0?: networkProtocolName = "http/1.0"
        case nil: networkProtocolName = nil
        default: networkProtocolName = "http/1.1"
        }
        isReusedConnection = metrics.reusedConnection ?? false
        let heads = max(0, (metrics.bytesSent ?? 0) - sent)
        (countOfRequestHeaderBytesSent, countOfRequestBodyBytesSent) = (heads, sent)
        let answered = max(0, (metrics.bytesReceived ?? 0) - received)
        (countOfResponseHeaderBytesReceived, countOfResponseBodyBytesReceived) = (answered, received)
        super.init()
        func moment(_ duration: Duration?, after start: Date) -> Date { start + (duration ?? .zero).inSeconds }
        fetchStartDate = moment(metrics.queue, after: start)
        requestStartDate = fetchStartDate
        if !isReusedConnection, let begin = fetchStartDate {
            (domainLookupStartDate, connectStartDate) = (begin, moment(metrics.nameLookup, after: begin))
            // Nothing has an end that CurlTransport has not measured.
            guard let connect = metrics.connect else { return }
            domainLookupEndDate = connectStartDate
            let opened = moment(connect, after: connectStartDate ?? begin)
            connectEndDate = moment(metrics.secureConnect, after: opened)
            requestStartDate = connectEndDate
            if request.url?.scheme?.hasSuffix("s") == true {
                (secureConnectionStartDate, secureConnectionEndDate) = (opened, connectEndDate)
            }
        }
        if let head = metrics.firstByte, let begin = requestStartDate {
            responseStartDate = moment(head, after: begin)
        }
        responseEndDate = responseStartDate == nil ? nil : Date()
        (remoteAddress, remotePort) = Self.place(metrics.remoteAddress)
        (localAddress, localPort) = Self.place(metrics.connection?.localAddress)
        if let tls = metrics.connection?.tls {
            negotiatedTLSProtocolVersion = tls.version == .v13 ? .TLSv13 : .TLSv12
            negotiatedTLSCipherSuite = (0...0xFFFF).first { CipherSuite.name(of: $0) == tls.cipherSuite }
                .map(Cipher.init)
        }
    }

    private static func place(_ text: String?) -> (String?, Int?) {
        guard let text, let colon = text.lastIndex(of: ":") else { return (nil, nil) }
        let host = text[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        return (host, Int(text[text.index(after: colon)...]))
    }
}

extension Duration {
    var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

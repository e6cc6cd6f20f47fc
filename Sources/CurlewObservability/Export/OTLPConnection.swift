// SPDX-License-Identifier: MIT

import CurlewCore
import CurlewHTTP

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Sends bodies to a collector, and sends them again where the protocol allows it (OTLP 1.9.0, Retryable Response
/// Codes).
struct OTLPConnection: Sendable {
    private let client: APIClient
    private let options: OTLPExporter.Options
    private let time: any TimeSource
    private let random: @Sendable () -> Double

    /// A response of a collector has a few hundred bytes.
    private static let longestResponse: Int64 = 64 << 10

    init(
        _ collector: BaseURL, _ transport: any Transport, _ options: OTLPExporter.Options, _ time: any TimeSource,
        _ random: @escaping @Sendable () -> Double
    ) {
        self.options = options
        self.time = time
        self.random = random
        var configuration = APIClient.Configuration(headers: options.headers, time: time)
        configuration.timeouts.total = options.timeout
        configuration.limits.responseBody = Self.longestResponse
        client = APIClient(baseURL: collector, pipeline: .empty, transport: transport, configuration: configuration)
    }

    /// Sends a body until the collector accepts or refuses it, or no attempt is left.
    ///
    /// - `onRequest`: called before each request, with true for a repeated one.
    func deliver(_ body: Data, to path: RequestPath, onRequest: (Bool) -> Void) async -> OTLPResponse {
        var attempt = 1
        while true {
            onRequest(attempt > 1)
            let response = await post(body, to: path)
            guard case .retry(let wait, _) = response, attempt < options.attempts else { return response }
            do {
                try await time.sleep(for: pause(after: attempt, wait))
            } catch {
                return .refused("the exporter was shut down")
            }
            attempt += 1
        }
    }

    private func pause(after attempt: Int, _ requested: Duration?) -> Duration {
        let share = random()
        let usual = Duration.seconds(1 << min(attempt - 1, 10)) * (share.isNaN ? 1 : 0.8 + 0.4 * min(1, max(0, share)))
        return min(requested ?? usual, options.longestWait)
    }

    private func post(_ body: Data, to path: RequestPath) async -> OTLPResponse {
        let request = Request<HTTPResponse>(.post, path, body: .data(body, type: .json), name: "OTLP")
        do throws(NetworkError) {
            let response = try await client.send(request)
            // Only the body of a success counts. The page of a proxy may be long, or break off.
            guard (200..<300).contains(response.status.code) else {
                response.body.cancel()
                return OTLPResponse(response.status, response.headers, Data(), now: time.date)
            }
            let answer = try await Self.body(of: response)
            return withoutFields(OTLPResponse(response.status, response.headers, answer, now: time.date))
        } catch {
            return OTLPResponse(error)
        }
    }

    /// Returns the result without values of the request's fields, which the message of a collector may repeat.
    private func withoutFields(_ result: OTLPResponse) -> OTLPResponse {
        guard case .accepted(let rejected, var message) = result, !message.isEmpty else { return result }
        for value in options.headers.map(\.value) where value.utf8.count >= Self.shortestValue {
            var rest = message[...]
            message = ""
            while let range = rest.utf8.firstRange(of: value.utf8) {
                message += rest[..<range.lowerBound] + Redaction.mark
                rest = rest[range.upperBound...]
            }
            message += rest
        }
        return .accepted(rejected: rejected, message: Redaction.standard.text(message))
    }

    /// Shorter values may be parts of common words.
    private static let shortestValue = 8

    private static func body(of response: HTTPResponse) async throws(NetworkError) -> Data {
        do {
            return try await response.body.collect()
        } catch {
            throw NetworkError(error)
        }
    }
}

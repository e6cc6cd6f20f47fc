// SPDX-License-Identifier: MIT

import Curlew
import Foundation
import HTTPTypes
import Logging
import OpenAPIRuntime
import OpenAPIRuntimeBridge
import ServiceLifecycle
import ServiceLifecycleBridge
import SwiftDistributedTracingBridge
import SwiftLogBridge
import SwiftMetricsBridge
import Testing

/// The Swift on the page about bridges, which this compiles. Blocks are compared without blanks.
private enum BridgesPage {
    static func logs(_ logger: Logger) -> APIClient {
        let client = APIClient(baseURL: "https://api.example.com", pipeline: .standard.adding(.logging(to: logger)))
        return client
    }

    static func metrics() -> APIClient {
        let configuration = APIClient.Configuration(observers: [SwiftMetricsObserver()])
        let client = APIClient(baseURL: "https://api.example.com", configuration: configuration)
        return client
    }

    static func traces() -> APIClient {
        let client = APIClient(
            baseURL: "https://api.example.com", pipeline: .standard.adding(DistributedTracingInterceptor()))
        return client
    }

    static func shutdown(_ client: APIClient, _ logger: Logger) async throws {
        let group = ServiceGroup(services: [APIClientService(client, drainingFor: .seconds(20))], logger: logger)
        try await group.run()
    }

    static func messages(_ client: APIClient) async throws -> HTTPTypes.HTTPResponse {
        let message = HTTPTypes.HTTPRequest(
            method: .get, scheme: "https", authority: "api.example.com", path: "/films/1")
        let response = try await client.send(message, name: "film")
        let head = try HTTPTypes.HTTPResponse(response)
        return head
    }

    static func generated(_ client: APIClient) -> any ClientTransport {
        let transport = APIClientTransport(client)
        return transport
    }
}

@Suite(.timeLimit(.minutes(1)))
struct BridgesPageTests {
    private func withoutBlanks(_ text: String) -> String { text.filter { !$0.isWhitespace } }

    @Test("Each block of the page, except the manifest, is compiled here")
    func blocks() throws {
        let file = URL(fileURLWithPath: #filePath)
        let root = (0..<4).reduce(file) { url, _ in url.deletingLastPathComponent() }
        let page = try String(
            contentsOf: root.appendingPathComponent("Documentation/Curlew.docc/Articles/Bridges.md"), encoding: .utf8)
        let code = withoutBlanks(try String(contentsOf: file, encoding: .utf8))
        let blocks = page.components(separatedBy: "```swift\n").dropFirst(2)
            .compactMap { $0.components(separatedBy: "\n```").first }
        #expect(blocks.count == 6)
        for block in blocks { #expect(code.contains(withoutBlanks(block)), "\(block)") }
    }
}

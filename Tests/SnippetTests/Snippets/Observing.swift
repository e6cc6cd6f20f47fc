// SPDX-License-Identifier: MIT

import Curlew

// What the page on observers shows.

/// A line for each request: its purpose, its outcome, its duration.
struct CostTable: RequestObserver {
    let lines: AsyncStream<String>.Continuation

    func record(_ event: ExchangeEvent, in context: ExchangeContext) {
        switch event {
        case .measured(let metrics): lines.yield("\(context.routeName): \(metrics.total ?? .zero)")
        case .attemptFailed(let error): lines.yield("\(context.routeName): \(error.label)")
        default: break
        }
    }
}

enum ObservingPage {
    static func make() -> (APIClient, AsyncStream<String>) {
        let (lines, table) = AsyncStream.makeStream(of: String.self, bufferingPolicy: .bufferingNewest(1000))
        let configuration = APIClient.Configuration(observers: [CostTable(lines: table)])
        let client = APIClient(baseURL: "https://api.example.com", configuration: configuration)

        return (client, lines)
    }

    static func showConnection(of response: Response<String>) {
        if let connection = response.metrics.connection {
            // connection 7 from 192.0.2.7:51344,
            // TLS 1.3 with TLS_AES_128_GCM_SHA256, resumed
            print(connection)
            print(connection.tls?.certificates.first?.notAfter as Any)
        }
    }

    static func warnings() -> BuiltInInterceptor {
        let logging: BuiltInInterceptor = .logging(.explain) { entry in
            guard entry.severity >= .warning else { return }
            print(entry.severity, entry["http.response.status_code"] ?? entry["error.type"] ?? "", entry.lines[0])
        }
        return logging
    }
}

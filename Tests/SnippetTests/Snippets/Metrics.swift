// SPDX-License-Identifier: MIT

import Curlew
import CurlewTesting
import Foundation

// What the page on metrics shows.

enum MetricsPage {
    static func make() -> (APIClient, MetricsRegistry) {
        let metrics = MetricsRegistry()
        let configuration = APIClient.Configuration(observers: [metrics])
        let client = APIClient(baseURL: "https://api.example.com", configuration: configuration)

        return (client, metrics)
    }

    static func serve(_ metrics: MetricsRegistry) throws -> MockServer {
        let server = try MockServer()
        server.on(.get, "/metrics") { request in
            let accepts = request.headers[.accept] ?? ""
            let format: MetricsRegistry.Snapshot.PrometheusFormat =
                accepts.contains("application/openmetrics-text") ? .openMetrics : .text
            let text = metrics.snapshot().prometheusText(format)
            return MockResponse(headers: [.contentType: format.contentType], body: .data(Data(text.utf8)))
        }

        return server
    }

    static func show(_ metrics: MetricsRegistry) {
        let durations = metrics.snapshot().metric("curlew.client.call.duration")
        for point in durations?.points ?? [] {
            print(point.text(of: "curlew.route") ?? "", point.histogram?.quantile(0.95) ?? 0)
        }
    }
}

// SPDX-License-Identifier: MIT

public import CurlewCore

extension APIClient {
    /// Returns a client that receives its responses from stubs:
    ///
    ///     let client = APIClient.mock { $0.on(GetUser.self) { User(id: $0.id, name: "Ada") } }
    ///
    /// `client.recordedCalls` contains the last 1,000 requests. By default the base URL is `https://mock.test`, and the
    /// pipeline has no interceptors.
    public static func mock(
        baseURL: BaseURL = "https://mock.test", pipeline: Pipeline = .empty,
        configuration: APIClient.Configuration = APIClient.Configuration(), _ configure: (MockTransport) -> Void
    ) -> APIClient {
        mock(MockTransport(configure), baseURL: baseURL, pipeline: pipeline, configuration: configuration)
    }

    /// Returns a client that sends its requests to `mock`. By default the base URL is `https://mock.test`, and the
    /// pipeline has no interceptors.
    public static func mock(
        _ mock: MockTransport, baseURL: BaseURL = "https://mock.test", pipeline: Pipeline = .empty,
        configuration: APIClient.Configuration = APIClient.Configuration()
    ) -> APIClient {
        APIClient(baseURL: baseURL, pipeline: pipeline, transport: mock, configuration: configuration)
    }

    /// The last 1,000 requests that reached the client's mock, oldest first; empty for a client with another transport.
    public var recordedCalls: [RecordedCall] {
        (transport as? MockTransport)?.requests ?? []
    }
}

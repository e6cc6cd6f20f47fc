// SPDX-License-Identifier: MIT

public import CurlewCore

extension APIClient {
    /// A client whose calls are answered by stubs, in one line:
    ///
    ///     let client = APIClient.mock { $0.on(GetUser.self) { User(id: $0.id, name: "Ada") } }
    ///
    /// `client.recordedCalls` gives what was asked. The base URL is `https://mock.test` and there are no interceptors,
    /// unless said otherwise.
    public static func mock(
        baseURL: BaseURL = "https://mock.test", pipeline: Pipeline = .empty,
        configuration: ClientConfiguration = ClientConfiguration(), _ configure: (MockTransport) -> Void
    ) -> APIClient {
        mock(MockTransport(configure), baseURL: baseURL, pipeline: pipeline, configuration: configuration)
    }

    /// A client whose calls `mock` answers.
    public static func mock(
        _ mock: MockTransport, baseURL: BaseURL = "https://mock.test", pipeline: Pipeline = .empty,
        configuration: ClientConfiguration = ClientConfiguration()
    ) -> APIClient {
        APIClient(baseURL: baseURL, pipeline: pipeline, transport: mock, configuration: configuration)
    }

    /// What reached the client's mock, oldest first; empty for a client over another transport.
    public var recordedCalls: [RecordedCall] {
        (transport as? MockTransport)?.requests ?? []
    }
}

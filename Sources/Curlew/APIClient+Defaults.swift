// SPDX-License-Identifier: MIT

/// Clients that leave the choice of engine or pipeline to the package.
extension APIClient {
    /// A client with the standard pipeline over `transport`.
    ///
    /// - `baseURL`: where paths begin. Nil for a client that only asks absolute URLs.
    public init(
        baseURL: BaseURL?, transport: any Transport, configuration: ClientConfiguration = ClientConfiguration()
    ) {
        self.init(baseURL: baseURL, pipeline: .standard, transport: transport, configuration: configuration)
    }

    #if os(Linux)
    /// A client over the engine of the platform, which all such clients of the process share.
    ///
    ///     let client = APIClient(baseURL: "https://dummyjson.com")
    ///     let client = APIClient(baseURL: "https://dummyjson.com", pipeline: [.bearer { await keychain.token() }])
    ///
    /// - `baseURL`: where paths begin. Nil for a client that only asks absolute URLs.
    /// - `pipeline`: the interceptors, from the caller to the wire. Default `Pipeline.standard`.
    public init(
        baseURL: BaseURL?, pipeline: Pipeline = .standard, configuration: ClientConfiguration = ClientConfiguration()
    ) {
        self.init(
            baseURL: baseURL, pipeline: pipeline, transport: CurlTransport.shared, configuration: configuration)
    }
    #endif
}

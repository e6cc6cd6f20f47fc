// SPDX-License-Identifier: MIT

public import CurlewCore

#if os(Linux)
import CurlewCurl
#else
import CurlewURLSession
#endif

extension APIClient {
    /// Creates a client with the platform's default transport: `CurlTransport.shared` on Linux, otherwise
    /// `URLSessionTransport.shared`.
    ///
    ///     let client = APIClient(baseURL: "https://dummyjson.com")
    ///
    /// - `baseURL`: the URL to which paths are appended. Default nil: a request with a path throws `.configuration`.
    /// - `pipeline`: the interceptors, in order. Default `.standard`: redirects and retries.
    /// - `configuration`: headers, codecs, timeouts and limits. Connection options (trust, protocol versions,
    ///   connections per host) belong to the transport: create a `CurlTransport` or `URLSessionTransport` to set them.
    ///
    /// Creating a client opens no connection and never fails.
    public init(
        baseURL: BaseURL? = nil, pipeline: Pipeline = .standard,
        configuration: APIClient.Configuration = APIClient.Configuration()
    ) {
        #if os(Linux)
        let transport: any Transport = CurlTransport.shared
        #else
        let transport: any Transport = URLSessionTransport.shared
        #endif
        self.init(baseURL: baseURL, pipeline: pipeline, transport: transport, configuration: configuration)
    }
}

// SPDX-License-Identifier: MIT

public import CurlewCore

extension Interceptor where Self == BuiltInInterceptor {
    /// Refuses requests over plain http, except to loopback hosts and to the listed origins:
    /// `.httpsOnly(except: "http://printer.example")`.
    ///
    /// The interceptor is next to the transport, so it sees each hop, each attempt, and the request after all changes
    /// by other interceptors. Requests to loopback hosts (`Origin.isLoopback`) and to the listed
    /// origins are allowed. Any other request over plain http fails with `.refused(by: .httpsOnly)`. Nothing is sent,
    /// and the request is not retried. Requests that bypass the pipeline, such as token refreshes, have separate rules.
    ///
    /// - `origins`: origins that may be accessed over http, such as `"http://printer.example:631"`. If one cannot be
    ///   parsed, every call throws `.configuration`.
    public static func httpsOnly(except origins: String...) -> BuiltInInterceptor { httpsOnly(except: origins) }

    /// Refuses requests over plain http, except to loopback hosts and to the origins in a list.
    public static func httpsOnly(except origins: [String]) -> BuiltInInterceptor {
        BuiltInInterceptor(HTTPSOnlyInterceptor(except: origins))
    }
}

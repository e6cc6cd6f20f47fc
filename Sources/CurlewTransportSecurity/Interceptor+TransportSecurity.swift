// SPDX-License-Identifier: MIT

public import CurlewCore

extension Interceptor where Self == BuiltInInterceptor {
    /// Sends requests over https to hosts that require it, even where a URL or a redirect specifies http (RFC 6797).
    /// The default store is a new in-memory one that the client shares with the clients derived from it.
    ///
    /// - A host requires https by sending `Strict-Transport-Security` in a response over https, where the server's
    ///   certificate is always verified. Responses over http, responses from a cache, and IP addresses do not count.
    /// - `http` becomes `https` and port 80 becomes 443; any other port is kept. This happens at each hop, before
    ///   cookies are selected and caches are queried.
    /// - Credentials for `http://host` are sent to `https://host` if both ports are the default ports: it is the same
    ///   server over a confidential connection. With other ports they are not sent, and no credential is ever sent from
    ///   https to http. A server's redirect from http to https changes the origin like any other redirect, so use https
    ///   in base URLs.
    ///
    /// The first request to a host is not protected, unless its URL specifies https or the app has added the host
    /// (`HSTSStore.insert`). `.httpsOnly()` refuses the remaining plain http requests.
    public static func hsts(_ store: HSTSStore = HSTSStore()) -> BuiltInInterceptor {
        BuiltInInterceptor(HSTSInterceptor(store))
    }
}

extension Interceptor where Self == BuiltInInterceptor {
    /// Refuses requests over plain http, except to loopback hosts and to the listed origins:
    /// `.httpsOnly(except: "http://printer.example")`.
    ///
    /// The interceptor is next to the transport, so it sees each hop, each attempt, and the request after all changes
    /// by other interceptors, including `.hsts()`. Requests to loopback hosts (`Origin.isLoopback`) and to the listed
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

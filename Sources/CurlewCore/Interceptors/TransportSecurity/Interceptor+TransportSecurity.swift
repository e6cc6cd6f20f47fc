// SPDX-License-Identifier: MIT

extension Interceptor where Self == HSTSInterceptor {
    /// Sends requests over https to hosts that require it. The default store is a new in-memory one that the client
    /// shares with the clients derived from it. See `HSTSInterceptor`.
    public static func hsts(_ store: HSTSStore = HSTSStore()) -> HSTSInterceptor {
        HSTSInterceptor(store)
    }
}

extension Interceptor where Self == HTTPSOnlyInterceptor {
    /// Refuses plain http, except to this machine and to the listed origins:
    /// `.httpsOnly(except: "http://printer.example")`. See `HTTPSOnlyInterceptor`.
    public static func httpsOnly(except origins: String...) -> HTTPSOnlyInterceptor {
        HTTPSOnlyInterceptor(except: origins)
    }
}

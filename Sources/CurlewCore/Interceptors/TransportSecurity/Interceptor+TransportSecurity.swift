// SPDX-License-Identifier: MIT

extension Interceptor where Self == HSTSInterceptor {
    /// Asks hosts over https that have said so. Default a list of its own, in memory, which the client and what is derived
    /// from it share. See `HSTSInterceptor`.
    public static func hsts(_ store: HSTSStore = HSTSStore()) -> HSTSInterceptor {
        HSTSInterceptor(store)
    }
}

extension Interceptor where Self == HTTPSOnlyInterceptor {
    /// Refuses plain http, but to this machine and to the origins named: `.httpsOnly(except: "http://printer.example")`.
    /// See `HTTPSOnlyInterceptor`.
    public static func httpsOnly(except origins: String...) -> HTTPSOnlyInterceptor {
        HTTPSOnlyInterceptor(except: origins)
    }
}

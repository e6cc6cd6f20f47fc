// SPDX-License-Identifier: MIT

// `import Curlew` also imports these modules.
@_exported public import CurlewAuthentication
@_exported public import CurlewCaching
@_exported public import CurlewCookies
@_exported public import CurlewCore
@_exported public import CurlewHTTP
@_exported public import CurlewObservability
@_exported public import CurlewResilience
@_exported public import CurlewStreams
@_exported public import CurlewTransfers
@_exported public import enum CurlewJSON.JSONValue

#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
#else
@_exported public import Foundation
#endif
#if os(Linux)
@_exported public import CurlewCurl
#else
@_exported public import CurlewURLSession
#endif

// SPDX-License-Identifier: MIT

// Users need only `import Curlew`.
@_exported public import CurlewCore
@_exported public import CurlewHTTP
@_exported public import CurlewJSON

#if canImport(FoundationEssentials)
@_exported public import FoundationEssentials
#else
@_exported public import Foundation
#endif
#if os(Linux)
@_exported public import CurlewCurl
#elseif canImport(Darwin)
@_exported public import CurlewURLSession
#endif

// SPDX-License-Identifier: MIT

// Foundation's values and the C library under one name, so that each file imports them with one line.
//
// FoundationEssentials where it exists: the rest of Foundation links ICU, which a Linux server does not need.

#if canImport(FoundationEssentials)
@_exported import FoundationEssentials
#else
@_exported import Foundation
#endif

#if canImport(Glibc)
@_exported import Glibc
#elseif canImport(Musl)
@_exported import Musl
#elseif canImport(Android)
@_exported import Android
#elseif canImport(ucrt)
@_exported import WinSDK
@_exported import ucrt
#elseif canImport(Darwin)
@_exported import Darwin
#endif

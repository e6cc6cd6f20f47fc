// SPDX-License-Identifier: MIT

// Every test uses calls, messages, mocks and the values of Foundation.
@_exported import CurlewCore
@_exported import CurlewHTTP
@_exported import CurlewJSON
@_exported import CurlewTesting
@_exported import Foundation

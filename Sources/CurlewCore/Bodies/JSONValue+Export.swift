// SPDX-License-Identifier: MIT

// `JSONValue` is declared beside its decoder; files that import the core see it as before.
@_exported public import CurlewJSON

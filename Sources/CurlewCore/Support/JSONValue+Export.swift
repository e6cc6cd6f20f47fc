// SPDX-License-Identifier: MIT

// Re-exports `JSONValue`, which is declared next to its decoder.
@_exported public import CurlewJSON

// SPDX-License-Identifier: MIT

// `JSONValue` is at home beside its decoder; whoever imports the core has it all the same.
@_exported public import CurlewJSON
